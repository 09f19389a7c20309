package dialect

import (
	"strconv"
	"strings"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// JSON writes a JSON text by appending. It sets the commas; that objects and lists
// are closed is the caller's business. The zero value is ready; B is the text so far.
//
//	var w dialect.JSON
//	w.Open('{')
//	w.Str("role", "user")
//	w.Key("content").Open('[')
//	…
type JSON struct {
	B    []byte
	bare bool // nothing stands before the next value: no comma
}

// AppendTo continues a text that ends where a value may stand.
func AppendTo(b []byte) JSON { return JSON{B: b, bare: true} }

// For begins a text that will say what c says.
func For(c *llm.Call) JSON { return JSON{B: make([]byte, 0, c.Bytes+c.Bytes/8+initialCapacity/2)} }

// initialCapacity is the room of a text that begins with nothing: most grow at least so far.
const initialCapacity = 1 << 10

// Open begins an object or a list: '{' or '['.
func (w *JSON) Open(bracket byte) {
	if w.B == nil {
		w.B = make([]byte, 0, initialCapacity)
	}
	w.sep()
	w.B = append(w.B, bracket)
	w.bare = true
}

// Close ends it: '}' or ']'.
func (w *JSON) Close(bracket byte) {
	w.B = append(w.B, bracket)
	w.bare = false
}

// Key begins a member. The name must need no escape.
func (w *JSON) Key(name string) *JSON {
	w.sep()
	w.B = append(append(append(w.B, '"'), name...), '"', ':')
	w.bare = true
	return w
}

// Member is Key for a name of any letters.
func (w *JSON) Member(name string) *JSON {
	w.sep()
	w.B = append(splice.AppendQuoted(w.B, name), ':')
	w.bare = true
	return w
}

// rawKey begins a member whose name stands as raw JSON somewhere else.
func (w *JSON) rawKey(raw []byte) *JSON {
	w.sep()
	w.B = append(splice.AppendRepaired(w.B, raw), ':')
	w.bare = true
	return w
}

// Str is a member with a text.
func (w *JSON) Str(name, value string) { w.Key(name).Text(value) }

// Opt is Str that leaves an empty text out.
func (w *JSON) Opt(name, value string) {
	if value != "" {
		w.Str(name, value)
	}
}

// Int is a member with a number.
func (w *JSON) Int(name string, value int64) {
	w.Key(name)
	w.B = strconv.AppendInt(w.B, value, 10)
	w.bare = false
}

// Some is a member with a number that is not 0; of 0 nothing is written.
func (w *JSON) Some(name string, value int64) {
	if value != 0 {
		w.Int(name, value)
	}
}

// Bool is a member with a truth value.
func (w *JSON) Bool(name string, value bool) {
	w.Key(name)
	w.B = strconv.AppendBool(w.B, value)
	w.bare = false
}

// Raw is a member with JSON as it is; without any it is left out.
func (w *JSON) Raw(name string, value []byte) {
	if len(value) > 0 {
		w.Key(name).Value(value)
	}
}

// Named is Raw for a name of any letters, one that a caller or a provider has made up: written
// as it is, it could end and go on with members that nobody has judged.
func (w *JSON) Named(name string, value []byte) {
	if len(value) > 0 {
		w.Member(name).Value(value)
	}
}

// Arguments is a member with the arguments of a call as an object, see ArgumentsObject. It reports
// whether they were one.
func (w *JSON) Arguments(name, text string) bool {
	if text = strings.TrimSpace(text); text == "" {
		text = "{}"
	}
	w.Key(name)
	from := len(w.B)
	w.B = append(w.B, text...)
	if splice.Readable(w.B[from:]) { // halves of pairs are as long as what stands for them
		w.B, w.bare = splice.AppendRepaired(w.B[:from], w.B[from:]), false
		return true
	}
	object, _ := ArgumentsObject(text)
	w.B = w.B[:from]
	w.Value(object)
	return false
}

// Text is a text.
func (w *JSON) Text(s string) {
	w.sep()
	w.B = splice.AppendQuoted(w.B, s)
	w.bare = false
}

// Value is JSON as it is, but for escapes that are half of a surrogate pair: whoever reads the text
// strictly would refuse it for one.
func (w *JSON) Value(raw []byte) {
	w.sep()
	w.B = splice.AppendRepaired(w.B, raw)
	w.bare = false
}

func (w *JSON) sep() {
	if !w.bare && len(w.B) > 0 {
		w.B = append(w.B, ',')
	}
	w.bare = false
}
