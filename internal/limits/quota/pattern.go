package quota

import "strings"

// anyValue matches every value that a call has.
const anyValue = "*"

// pattern is a compiled value of a condition: an exact value or, for the key model, a model of
// a provider or all of its models with a prefix.
type pattern struct {
	all  bool
	kind string // provider of a model; empty for other keys
	text string
	open bool // matches everything that begins with text
}

// read compiles a value. It returns false if no call has such a value.
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

// meets reports whether the pattern matches a value. kind is the provider if the value is a
// model, else empty.
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

// covers reports whether the pattern matches everything that q matches.
func (p *pattern) covers(q pattern) bool {
	return p.all || !q.all && p.meets(q.kind, q.text) && (p.open || !q.open)
}
