package jsonschema

import (
	"maps"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// InlineRefs returns a JSON schema in which references are replaced by the parts that they lead to,
// for models that do not follow references: {"properties":{"to":{"$ref":"#/$defs/address"}}}. The
// definitions are removed. Members next to a reference take precedence. A reference that leads back
// to itself becomes {}, which accepts anything. A schema without references into itself is
// returned unchanged.
func InlineRefs(schema []byte) []byte {
	if !jsonedit.ContainsText(schema, refMember) {
		return schema
	}
	p := refInliner{refs: NewRefs(schema)}
	p.value(schema, nil, 0)
	return p.B
}

type refInliner struct {
	jsonwriter.Writer
	refs *Refs
}

// value copies one value. Path are the references that led to it.
func (p *refInliner) value(raw []byte, path []string, depth int) {
	switch {
	case len(raw) == 0 || raw[0] != '{' && raw[0] != '[' || depth > MaxDepth || len(p.B) > MaxBytes:
		p.Value(raw)
	case raw[0] == '[':
		p.Open('[')
		for v := range jsonedit.Elements(raw) {
			p.value(v, path, depth+1)
		}
		p.Close(']')
	default:
		p.object(raw, path, depth)
	}
}

func (p *refInliner) object(raw []byte, path []string, depth int) {
	to, next, ok := p.refs.Follow(raw, path)
	if ok && to[0] != '{' { // true or false
		p.Value(to)
		return
	}
	p.Open('{')
	if ok {
		p.members(to, names(raw), next, depth)
	}
	p.members(raw, nil, path, depth)
	p.Close('}')
}

// members copies the members of a schema, or of the part that it refers to, except those in but.
func (p *refInliner) members(raw []byte, but map[string]bool, path []string, depth int) {
	if depth > MaxDepth {
		return
	}
	if but != nil { // the referenced part may be a reference itself
		if to, next, ok := p.refs.Follow(raw, path); ok && to[0] == '{' {
			p.members(to, union(but, names(raw)), next, depth+1)
		}
	}
	for name, val := range jsonedit.Members(raw) {
		switch key, _ := jsonedit.Unquote(name); {
		case but[key], key == "$defs", key == "definitions", key == refMember && len(val) > 0 && val[0] == '"':
		case key == "enum", key == "const", key == "default", key == "examples": // values, not schemas
			p.RawKey(name).Value(val)
		case key == "properties" && val[0] == '{':
			p.RawKey(name).Open('{')
			for n, v := range jsonedit.Members(val) { // names of properties, not keywords
				p.RawKey(n)
				p.value(v, path, depth+1)
			}
			p.Close('}')
		default:
			p.RawKey(name)
			p.value(val, path, depth+1)
		}
	}
}

// names are the names of an object's members.
func names(raw []byte) map[string]bool {
	set := map[string]bool{}
	for name := range jsonedit.Members(raw) {
		key, _ := jsonedit.Unquote(name)
		set[key] = true
	}
	return set
}

func union(a, b map[string]bool) map[string]bool {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
