package jsonschema

import (
	"strings"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// CheckedRefs rewrites a JSON schema for models that follow references but reject some. They reject
// a reference that leads nowhere, and members next to a reference except description and default.
// A reference that leads nowhere is removed: {"$ref":"#/$defs/none"} becomes {}. A reference with
// other members becomes a choice of one: {"anyOf":[{"$ref":"#/$defs/a"}],"title":"A"}. A schema
// without references is returned unchanged.
// Source: https://ai.google.dev/api/generate-content#generationconfig, read 2026-11, and Gemini's
// errors "reference to undefined schema" and "$ref was set alongside unsupported fields".
func CheckedRefs(schema []byte) []byte {
	if !jsonedit.ContainsText(schema, refMember) {
		return schema
	}
	c := refChecker{
		refs: NewRefs(schema),
		ids:  jsonedit.ContainsText(schema, "$id"), anchors: jsonedit.ContainsText(schema, "$anchor"),
	}
	c.value(schema, 0)
	return c.B
}

// refChecker rewrites the schema as CheckedRefs describes. It belongs to one goroutine.
type refChecker struct {
	jsonwriter.Writer
	refs    *Refs
	ids     bool // parts of the schema have ids
	anchors bool // or anchors
}

// value copies one value. It copies a value below the maximum depth unchanged.
func (c *refChecker) value(raw []byte, depth int) {
	switch {
	case len(raw) == 0 || raw[0] != '{' && raw[0] != '[' || depth > MaxDepth:
		c.Value(raw)
	case raw[0] == '[':
		c.Open('[')
		for v := range jsonedit.Elements(raw) {
			c.value(v, depth+1)
		}
		c.Close(']')
	default:
		c.Open('{')
		c.members(raw, depth)
		c.Close('}')
	}
}

func (c *refChecker) members(raw []byte, depth int) {
	choice := c.choiceFor(raw)
	for name, val := range jsonedit.Members(raw) {
		switch key, _ := jsonedit.Unquote(name); {
		case key == refMember && len(val) > 0 && val[0] == '"':
			c.reference(val, choice)
		case key == "enum", key == "const", key == "default", key == "examples": // values, not schemas
			c.RawKey(name).Value(val)
		case schemasByName[key] && len(val) > 0 && val[0] == '{':
			c.RawKey(name).Open('{')
			for n, v := range jsonedit.Members(val) { // names of properties or definitions, not keywords
				c.RawKey(n)
				c.value(v, depth+1)
			}
			c.Close('}')
		default:
			c.RawKey(name)
			c.value(val, depth+1)
		}
	}
}

// reference writes a reference. If choice is not empty, it names the member for a choice of one.
// A reference that leads nowhere is omitted.
func (c *refChecker) reference(ref []byte, choice string) {
	switch {
	case !c.leads(ref):
	case choice == "":
		c.Key(refMember).Value(ref)
	default:
		c.Key(choice).Open('[')
		c.Open('{')
		c.Key(refMember).Value(ref)
		c.Close('}')
		c.Close(']')
	}
}

// choiceFor is the member in which a reference must be wrapped because of the members next to it. It
// is empty if the reference may remain.
func (c *refChecker) choiceFor(raw []byte) string {
	hasSiblings, taken := false, map[string]bool{}
	for name := range jsonedit.Members(raw) {
		key, _ := jsonedit.Unquote(name)
		taken[key] = true
		hasSiblings = hasSiblings || key != "description" && key != "default" && !strings.HasPrefix(key, "$")
	}
	if !hasSiblings {
		return ""
	}
	for _, choice := range [...]string{"anyOf", "oneOf", "allOf"} {
		if !taken[choice] {
			return choice
		}
	}
	return ""
}

// leads reports whether a reference leads to a part of the schema, as far as that is known. If the
// schema has ids or anchors, references to them are assumed to be valid.
func (c *refChecker) leads(ref []byte) bool {
	name, _ := jsonedit.Unquote(ref)
	switch {
	case name == "#":
		return true
	case strings.HasPrefix(name, "#/"):
		_, _, ok := c.refs.Follow([]byte(`{"$ref":`+string(ref)+`}`), nil)
		return ok
	case strings.HasPrefix(name, "#"):
		return c.anchors
	}
	return c.ids
}
