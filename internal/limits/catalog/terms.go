package catalog

import (
	"strconv"

	"sluice/internal/kernel/jsonedit"
)

// AppendTerms appends the terms of a cost to b as json.Marshal would, without allocating. It
// appends nothing for no terms:
//
//	[{"dimension":"input","key":"request_token","units":1200,"per":1,"rate":"0.0000025","factor":"1","nano":3000000}]
func AppendTerms(b []byte, terms []Term) []byte {
	for i := range terms {
		t := &terms[i]
		if i == 0 {
			b = append(b, '[')
		} else {
			b = append(b, ',')
		}
		b = jsonedit.AppendQuoted(append(b, `{"dimension":`...), t.Dimension)
		b = jsonedit.AppendQuoted(append(b, `,"key":`...), t.Key)
		b = strconv.AppendInt(append(b, `,"units":`...), t.Units, 10)
		b = strconv.AppendInt(append(b, `,"per":`...), t.Per, 10)
		b = jsonedit.AppendQuoted(append(b, `,"rate":`...), t.Rate)
		b = jsonedit.AppendQuoted(append(b, `,"factor":`...), t.Factor)
		b = strconv.AppendInt(append(b, `,"nano":`...), t.Nano, 10)
		b = append(b, '}')
	}
	if len(terms) > 0 {
		b = append(b, ']')
	}
	return b
}
