package quota

import "strings"

// anyValue stands for every value that a call has.
const anyValue = "*"

// pattern is a value of a condition: a word or, of the key model, a provider's model or
// all of its models that begin in a way.
type pattern struct {
	all  bool
	kind string // provider of a model; empty for words
	text string
	open bool // everything that begins with text
}

// read makes a pattern of a value; false when no call has such a value.
func (k Key) read(value string) (pattern, bool) {
	switch {
	case value == anyValue:
		return pattern{all: true}, true
	case k != modelKey:
		return pattern{text: value}, true
	}
	kind, model, found := strings.Cut(strings.TrimPrefix(value, "@"), "/")
	if !found || value[0] != '@' || kind == "" || model == "" {
		return pattern{}, false
	}
	p := pattern{kind: kind, text: model}
	if model == "*" || strings.HasSuffix(model, "/*") {
		p.text, p.open = strings.TrimSuffix(model, "*"), true
	}
	return p, true
}

// meets reports whether the pattern stands for a value. kind is the provider when the
// value is a model, else empty.
func (p *pattern) meets(kind, value string) bool {
	switch {
	case p.all:
		return true
	case p.kind != kind:
		return false
	case p.open:
		return strings.HasPrefix(value, p.text)
	}
	return p.text == value
}

// covers reports whether the pattern stands for everything that q stands for.
func (p *pattern) covers(q pattern) bool {
	return p.all || !q.all && p.meets(q.kind, q.text) && (p.open || !q.open)
}
