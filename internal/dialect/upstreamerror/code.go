package upstreamerror

import "sluice/internal/kernel/jsonedit"

// The code of an error is a string on every surface. It is the provider's code; a number is
// formatted in digits. If the provider sent none, the code is null (messages omit it). It is never
// derived from the status or the type. There are exceptions, each for a client that reads them:
// context_length_exceeded, the shapes "error_str_status" and "html" of providers.yaml, and the
// events of responses, which have no field for a type except code.
// docs/upstream-faults.md has the table.

// errorCodes are the paths of error codes. The last applies to events of responses and to errors
// without a wrapper.
var errorCodes = [...][]string{{"error", "code"}, {"response", "error", "code"}, {"code"}}

// ErrorObjectKey begins an error inside an event.
var ErrorObjectKey = []byte(`"error":{`)

// TextCode is the data of an error with its code as a string. It is data itself if the code is a
// string already or if there is none.
func TextCode(data []byte) []byte {
	for _, keys := range errorCodes {
		raw, _ := jsonedit.Find(data, keys...)
		if !isNumber(raw) {
			continue
		}
		var doc jsonedit.Doc
		if jsonedit.Scan(data, &doc) != nil {
			return data
		}
		path := keys[0]
		for _, key := range keys[1:] {
			path += "." + key
		}
		return doc.Apply([]jsonedit.Edit{jsonedit.SetPath(path, jsonedit.Quote(string(raw)))})
	}
	return data
}
