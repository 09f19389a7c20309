package toolcalls

import (
	"bytes"
	"crypto/sha256"
	"strings"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// IDLetters are the letters and digits that tool call ids may contain at every provider.
const IDLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// ShortID converts a tool call id to n letters and digits, at most 32. Equal ids have equal
// results, so calls and their results still match.
func ShortID(id string, n int) string {
	hash := sha256.Sum256([]byte(id))
	out := make([]byte, n)
	for i := range out {
		out[i] = IDLetters[int(hash[i])%len(IDLetters)]
	}
	return string(out)
}

// ShortIDs converts the tool call ids in the messages of a chat completion to exactly n letters and
// digits, for providers that accept no others. A conversation may have begun at another provider.
// It is nil if all ids have that form.
func ShortIDs(messages []byte, n int) []byte {
	if !bytes.Contains(messages, []byte(`"tool_call`)) {
		return nil
	}
	w := idWriter{length: n}
	w.list(messages, func(m []byte) {
		w.object(m, "tool_call_id", func(calls []byte) { w.list(calls, func(c []byte) { w.object(c, "id", nil) }) })
	})
	if !w.changed {
		return nil
	}
	return w.B
}

type idWriter struct {
	jsonwriter.Writer
	length  int
	changed bool
}

func (w *idWriter) list(raw []byte, each func([]byte)) {
	w.Open('[')
	for val := range jsonedit.Elements(raw) {
		each(val)
	}
	w.Close(']')
}

// object writes an object with the id in the member of that name shortened. Calls writes the list
// of calls, if it has one.
func (w *idWriter) object(raw []byte, id string, calls func([]byte)) {
	if len(raw) == 0 || raw[0] != '{' {
		w.Value(raw)
		return
	}
	w.Open('{')
	for name, val := range jsonedit.Members(raw) {
		w.RawKey(name)
		n, _ := jsonedit.Unquote(name)
		text, isText := jsonedit.Unquote(val)
		switch {
		case n == id && isText && !w.fits(text):
			w.changed = true
			w.Text(ShortID(text, w.length))
		case n == "tool_calls" && calls != nil && len(val) > 0 && val[0] == '[':
			calls(val)
		default:
			w.Value(val)
		}
	}
	w.Close('}')
}

func (w *idWriter) fits(id string) bool {
	return len(id) == w.length && strings.Trim(id, IDLetters) == ""
}
