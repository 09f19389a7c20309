package dialect

import (
	"strings"

	"sluice/internal/splice"
)

// CheckedRefs is a JSON schema for models that follow references, and refuse a call for one that
// leads nowhere or that has members beside it other than description and default. The first is
// left out: {"$ref":"#/$defs/none"} is {}. The second becomes a choice of one:
// {"anyOf":[{"$ref":"#/$defs/a"}],"title":"A"}. A schema without references is returned as it is.
// Source: https://ai.google.dev/api/generate-content#generationconfig, read 2026-11, and Gemini's
// errors "reference to undefined schema" and "$ref was set alongside unsupported fields".
func CheckedRefs(schema []byte) []byte {
	if !splice.ContainsText(schema, refMember) {
		return schema
	}
	c := refChecker{
		refs: NewRefs(schema),
		ids:  splice.ContainsText(schema, "$id"), anchors: splice.ContainsText(schema, "$anchor"),
	}
	c.value(schema, 0)
	return c.B
}

// refChecker writes the schema again as CheckedRefs describes. It belongs to one goroutine.
type refChecker struct {
	JSON
	refs    *Refs
	ids     bool // parts of the schema have names of their own
	anchors bool // or anchors
}

// value copies one value. What is nested too deeply is copied as it is.
func (c *refChecker) value(raw []byte, depth int) {
	switch {
	case len(raw) == 0 || raw[0] != '{' && raw[0] != '[' || depth > MaxSchemaDepth:
		c.Value(raw)
	case raw[0] == '[':
		c.Open('[')
		for v := range splice.Elements(raw) {
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
	for name, val := range splice.Members(raw) {
		switch key, _ := splice.Unquote(name); {
		case key == refMember && len(val) > 0 && val[0] == '"':
			c.reference(val, choice)
		case key == "enum", key == "const", key == "default", key == "examples": // values, not schemas
			c.rawKey(name).Value(val)
		case schemasByName[key] && len(val) > 0 && val[0] == '{':
			c.rawKey(name).Open('{')
			for n, v := range splice.Members(val) { // whose names mean nothing here
				c.rawKey(n)
				c.value(v, depth+1)
			}
			c.Close('}')
		default:
			c.rawKey(name)
			c.value(val, depth+1)
		}
	}
}

// reference writes a reference, as a choice of one where choice names one; nothing where it
// leads nowhere.
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

// choiceFor is the member under which a reference of the schema goes because of the members
// beside it; empty where it may stay.
func (c *refChecker) choiceFor(raw []byte) string {
	hasSiblings, taken := false, map[string]bool{}
	for name := range splice.Members(raw) {
		key, _ := splice.Unquote(name)
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

// leads reports whether a reference leads to a part of the schema, as far as that can be known:
// names of parts and anchors are taken at their word where the schema has any.
func (c *refChecker) leads(ref []byte) bool {
	name, _ := splice.Unquote(ref)
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
