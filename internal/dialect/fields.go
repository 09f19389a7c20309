package dialect

import (
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// Fields begins to track the members of a request to a unified endpoint. Each is consumed by an
// encoder or reported as dropped. Nulls are ignored. The model, which Target contains, and stream
// count as consumed.
func Fields(body []byte) *llm.FieldTracker {
	c := &llm.Call{}
	for raw, val := range splice.Members(body) {
		name, _ := splice.Unquote(raw)
		if string(val) != "null" {
			c.Params = append(c.Params, llm.Param{Name: name, From: name, Raw: val})
		}
	}
	t := llm.NewTally(c)
	t.Consume("model")
	t.Consume("stream")
	return t
}

// WriteParams consumes parameters of t and writes them under the provider's names:
// {"top_p", "p"}.
func WriteParams(w *jsonwriter.Writer, t *llm.FieldTracker, list []Rename) {
	for _, n := range list {
		if raw, ok := t.Consume(n.Path); ok {
			w.Raw(n.To, raw)
		}
	}
}

// Alias is a parameter that callers may send under several names, for example style_preset,
// which may also be named style.
type Alias struct {
	To   string   // the provider's name
	From []string // the callers' names; nil: the provider's name
}

// Take consumes all names and returns the value of the first one that is present.
func (a Alias) Take(t *llm.FieldTracker) []byte {
	if a.From == nil {
		raw, _ := t.Consume(a.To)
		return raw
	}
	raw, _ := t.First(a.From...)
	return raw
}

// WriteAliases is WriteParams for parameters with several names.
func WriteAliases(w *jsonwriter.Writer, t *llm.FieldTracker, list []Alias) {
	for _, a := range list {
		w.Raw(a.To, a.Take(t))
	}
}

// Count parses a number of tokens in a response: 12, or 12.0 as some providers write it. Ok is
// false for anything else, for example -1.
func Count(raw []byte) (n int64, ok bool) {
	ok = count(raw, &n)
	return n, ok
}
