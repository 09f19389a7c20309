// Package fields checks, names and copies the fields of requests: their paths in errors, the types
// that they may have, and their names at a provider. Start with Types and Track.
package fields

import (
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Track begins to track the members of a request to a unified endpoint. Each is consumed by an
// encoder or reported as dropped. Nulls are ignored. The model, which Target contains, and stream
// count as consumed.
func Track(body []byte) *llm.FieldTracker {
	c := &llm.Call{}
	for raw, val := range jsonedit.Members(body) {
		name, _ := jsonedit.Unquote(raw)
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

// Rename renames the member that a path selects, see jsonedit.Rename.
type Rename struct{ Path, To string }
