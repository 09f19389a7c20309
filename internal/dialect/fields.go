package dialect

import (
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// Fields begins the account of a request to a unified endpoint: its members are the
// parameters, so that each is taken by what carries it or named as lost. Nulls say
// nothing. The model, which Target names, and stream count as taken.
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

// WriteParams writes the parameters that t has under the names that the provider has for
// them: {"top_p", "p"}.
func (w *JSON) WriteParams(t *llm.FieldTracker, list []Rename) {
	for _, n := range list {
		if raw, ok := t.Consume(n.Path); ok {
			w.Raw(n.To, raw)
		}
	}
}

// Alias is a parameter that callers know by several names, for example style_preset
// that they may call style.
type Alias struct {
	To   string   // the provider's name
	From []string // the callers'; nil: the provider's
}

// Take takes the first of the names that is there; others are taken with it.
func (a Alias) Take(t *llm.FieldTracker) []byte {
	if a.From == nil {
		raw, _ := t.Consume(a.To)
		return raw
	}
	raw, _ := t.First(a.From...)
	return raw
}

// WriteAliasedParams is Carry for parameters with several names.
func (w *JSON) WriteAliasedParams(t *llm.FieldTracker, list []Alias) {
	for _, a := range list {
		w.Raw(a.To, a.Take(t))
	}
}

// List writes raw as a list: a list as it is, anything else as its only element.
func (w *JSON) List(name string, raw []byte) {
	if len(raw) == 0 || raw[0] == '[' {
		w.Raw(name, raw)
		return
	}
	w.Key(name).Open('[')
	w.Value(raw)
	w.Close(']')
}

// Count is a number of tokens in an answer: 12, or 12.0 as some providers write it. Ok
// is false for what is none, for example -1.
func Count(raw []byte) (n int64, ok bool) {
	ok = count(raw, &n)
	return n, ok
}
