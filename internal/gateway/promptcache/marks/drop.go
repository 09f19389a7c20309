package marks

import (
	"bytes"
	"slices"

	"sluice/internal/kernel/jsonedit"
)

// Drop removes all marks from a body, for a target whose provider or model does not accept them. It
// returns the body and the paths of the marks in the order of the body, for the list of dropped
// fields: ["system[0].cache_control", "messages[2].content[0].cache_control"]. In Converse's form a
// path is that of the cache point: "system[1]".
//
// A body without marks, or one that is not a JSON object, is returned unchanged.
func Drop(body []byte, f Form) (rest []byte, dropped []string) {
	if !MayContain(body) {
		return body, nil
	}
	p := scan(body, Rules{Form: f})
	if len(p.marks) == 0 || !p.readable {
		return body, nil
	}
	for _, m := range p.marks {
		dropped = append(dropped, m.path)
	}
	var d jsonedit.Doc
	if jsonedit.Scan(body, &d) != nil { // more members or levels than a Doc accepts
		return body, nil
	}
	return d.Apply([]jsonedit.Edit{jsonedit.DropAll(dropped)}), dropped
}

// HasHour reports whether a body has a mark of an hour.
func HasHour(body []byte, f Form) bool {
	if !MayContain(body) {
		return false
	}
	p := scan(body, Rules{Form: f})
	return slices.ContainsFunc(p.marks, isHour)
}

// MayContain reports whether a body may contain marks. It is false for most bodies without marks and
// needs no parsing.
func MayContain(body []byte) bool { return bytes.Contains(body, []byte(`"cache`)) }
