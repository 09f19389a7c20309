package dialect

import (
	"bytes"

	"sluice/internal/splice"
)

// The code of an error is a string on every surface: the code that the provider sent, a number
// as the same number in digits. Where the provider sent none it is null (messages leave it
// out); it is never made from the status or the type. Exceptions, each for a client that looks
// for it: context_length_exceeded, the shapes "error_str_status" and "html" of providers.yaml,
// and the events of responses, which have no other field for a type than code.
// docs/upstream-faults.md has the table.

// errorCodes are where the code of an error is. The last counts in events of responses, and in
// errors without a wrapper.
var errorCodes = [...][]string{{"error", "code"}, {"response", "error", "code"}, {"code"}}

// errorObjectKey begins an error inside an event.
var errorObjectKey = []byte(`"error":{`)

// TextCode is the data of an error with its code as a string. It is data itself where the code is
// one already, or where there is none.
func TextCode(data []byte) []byte {
	for _, keys := range errorCodes {
		raw, _ := splice.Find(data, keys...)
		if !isNumber(raw) {
			continue
		}
		var doc splice.Doc
		if splice.Scan(data, &doc) != nil {
			return data
		}
		path := keys[0]
		for _, key := range keys[1:] {
			path += "." + key
		}
		return doc.Apply([]splice.Edit{splice.SetPath(path, splice.Quote(string(raw)))})
	}
	return data
}

// withCode is an event that reports an error with its code, and how many of its first bytes are
// those of the event; nil where nothing changes.
func (s *Stream) withCode(all []byte, e event) (with []byte, same int) {
	if e.end == 0 || len(e.data) == 0 {
		return nil, 0
	}
	data := withCode(s.opt.Endpoint, e.name, e.data)
	if bytes.Equal(data, e.data) {
		return nil, 0
	}
	with = append(with, all[:e.off]...)
	with = append(with, data...)
	with = append(with, all[e.end:]...)
	for same < len(all) && with[same] == all[same] {
		same++
	}
	return with, same
}
