// Package jsonwriter writes JSON documents by appending to a buffer, without reflection. The encoders
// of all dialects use it. Start with Writer.
package jsonwriter

import (
	"strconv"
	"strings"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Writer writes a Writer document by appending. It adds the commas; the caller closes objects
// and lists. The zero value is ready. B is the output so far.
//
//	var w Writer
//	w.Open('{')
//	w.Str("role", "user")
//	w.Key("content").Open('[')
//	…
type Writer struct {
	B    []byte
	bare bool // nothing precedes the next value: no comma
}

// AppendTo continues output that ends where a value may follow.
func AppendTo(b []byte) Writer { return Writer{B: b, bare: true} }

// NewForCall returns a writer with the capacity for an encoding of c.
func NewForCall(c *llm.Call) Writer {
	return Writer{B: make([]byte, 0, c.Bytes+c.Bytes/8+InitialCapacity/2)}
}

// InitialCapacity is the first capacity of an empty writer. Most outputs grow at least that far.
const InitialCapacity = 1 << 10

// Open begins an object or a list: '{' or '['.
func (w *Writer) Open(bracket byte) {
	if w.B == nil {
		w.B = make([]byte, 0, InitialCapacity)
	}
	w.sep()
	w.B = append(w.B, bracket)
	w.bare = true
}

// Close ends an object or a list: '}' or ']'.
func (w *Writer) Close(bracket byte) {
	w.B = append(w.B, bracket)
	w.bare = false
}

// Key begins a member. The name must not need escaping.
func (w *Writer) Key(name string) *Writer {
	w.sep()
	w.B = append(append(append(w.B, '"'), name...), '"', ':')
	w.bare = true
	return w
}

// Member is Key for a name that may need escaping.
func (w *Writer) Member(name string) *Writer {
	w.sep()
	w.B = append(jsonedit.AppendQuoted(w.B, name), ':')
	w.bare = true
	return w
}

// RawKey begins a member whose name is raw JSON from another document.
func (w *Writer) RawKey(raw []byte) *Writer {
	w.sep()
	w.B = append(jsonedit.AppendRepaired(w.B, raw), ':')
	w.bare = true
	return w
}

// Str writes a member with a string.
func (w *Writer) Str(name, value string) { w.Key(name).Text(value) }

// Opt is Str that omits an empty string.
func (w *Writer) Opt(name, value string) {
	if value != "" {
		w.Str(name, value)
	}
}

// Int writes a member with a number.
func (w *Writer) Int(name string, value int64) {
	w.Key(name)
	w.B = strconv.AppendInt(w.B, value, 10)
	w.bare = false
}

// Some writes a member with a number, and omits it for 0.
func (w *Writer) Some(name string, value int64) {
	if value != 0 {
		w.Int(name, value)
	}
}

// Bool writes a member with a boolean.
func (w *Writer) Bool(name string, value bool) {
	w.Key(name)
	w.B = strconv.AppendBool(w.B, value)
	w.bare = false
}

// Raw writes a member with JSON as it is. It omits the member if value is empty.
func (w *Writer) Raw(name string, value []byte) {
	if len(value) > 0 {
		w.Key(name).Value(value)
	}
}

// Named is Raw for a name that a caller or a provider chose. Unescaped, such a name could end
// early and add members that were never checked.
func (w *Writer) Named(name string, value []byte) {
	if len(value) > 0 {
		w.Member(name).Value(value)
	}
}

// Arguments writes a member with the arguments of a call as an object, see ArgumentsObject. It
// reports whether they were an object.
func (w *Writer) Arguments(name, text string) bool {
	if text = strings.TrimSpace(text); text == "" {
		text = "{}"
	}
	w.Key(name)
	from := len(w.B)
	w.B = append(w.B, text...)
	if jsonedit.Readable(w.B[from:]) { // a surrogate escape is as long as its replacement
		w.B, w.bare = jsonedit.AppendRepaired(w.B[:from], w.B[from:]), false
		return true
	}
	object, _ := ArgumentsObject(text)
	w.B = w.B[:from]
	w.Value(object)
	return false
}

// Text writes a string.
func (w *Writer) Text(s string) {
	w.sep()
	w.B = jsonedit.AppendQuoted(w.B, s)
	w.bare = false
}

// Value writes JSON as it is, but replaces escapes that are a lone surrogate. Strict parsers would
// reject the document for one.
func (w *Writer) Value(raw []byte) {
	w.sep()
	w.B = jsonedit.AppendRepaired(w.B, raw)
	w.bare = false
}

func (w *Writer) sep() {
	if !w.bare && len(w.B) > 0 {
		w.B = append(w.B, ',')
	}
	w.bare = false
}

// Params writes members whose names a provider chose.
func (w *Writer) Params(list []llm.Param) {
	for _, p := range list {
		w.Named(p.Name, p.Raw)
	}
}

// StrOrNull is Str, but writes null for an empty string.
func (w *Writer) StrOrNull(name, value string) {
	if value == "" {
		w.Raw(name, []byte("null"))
		return
	}
	w.Str(name, value)
}

// List writes raw as a list: a list unchanged, anything else as the only element.
func (w *Writer) List(name string, raw []byte) {
	if len(raw) == 0 || raw[0] == '[' {
		w.Raw(name, raw)
		return
	}
	w.Key(name).Open('[')
	w.Value(raw)
	w.Close(']')
}
