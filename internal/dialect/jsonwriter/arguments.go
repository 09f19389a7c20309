package jsonwriter

import (
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// RawArguments is the only member of replacement arguments for a call whose arguments are not a JSON
// object: {"raw_arguments":"{\"city\": \"Ro"}. A model may be cut off inside them, and some do not
// write valid JSON. With the replacement, a conversation can continue at providers that require an
// object, and the model sees the text that it wrote.
const RawArguments = "raw_arguments"

// ArgumentsObject converts the arguments of a call to an object that every JSON parser accepts. It
// is {} for an empty text, and the text itself if that is an object. Otherwise it is the text under
// RawArguments, and ok is false.
func ArgumentsObject(text string) (object []byte, ok bool) {
	trimmed := []byte(strings.TrimSpace(text))
	switch {
	case len(trimmed) == 0:
		return []byte("{}"), true
	case jsonedit.Readable(trimmed):
		return jsonedit.AppendRepaired(nil, trimmed), true
	}
	var w Writer
	w.Open('{')
	w.Str(RawArguments, text)
	w.Close('}')
	return w.B, false
}
