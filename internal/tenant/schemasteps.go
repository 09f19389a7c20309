package tenant

import "github.com/santhosh-tekuri/jsonschema/v6"

// maxSteps bounds what a check of metadata takes: parts of a schema that are looked at, one
// that is referred to several times counting as often. Without a bound a schema of a few
// kilobytes, in which each of forty definitions names the next one twice, keeps a processor
// busy for years, and the database's writer with it.
const maxSteps = 10_000

// counting adds up the steps of schemas. What it knows of one is kept, so that it takes no
// longer than reading the schema.
type counting map[stepKey]int

// stepKey is a schema that is held against an object, or against a text in one.
type stepKey struct {
	schema *jsonschema.Schema
	text   bool
}

// count is the number of steps, at most one more than maxSteps; that of a schema that leads
// back to itself.
func (c counting) count(s *jsonschema.Schema, text bool) int {
	if s == nil {
		return 0
	}
	key := stepKey{s, text}
	if n, known := c[key]; known {
		return n
	}
	c[key] = maxSteps + 1 // while it is being counted
	n := 1
	for _, part := range same(s) {
		n = min(n+c.count(part, text), maxSteps+1)
	}
	if !text {
		for _, part := range members(s) {
			n = min(n+c.count(part, true), maxSteps+1)
		}
	}
	c[key] = n
	return n
}

// same are the parts of a schema that are held against what it is held against itself.
func same(s *jsonschema.Schema) []*jsonschema.Schema {
	parts := []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else, s.ContentSchema}
	if s.DynamicRef != nil {
		parts = append(parts, s.DynamicRef.Ref)
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		parts = append(parts, list...)
	}
	for _, d := range s.DependentSchemas {
		parts = append(parts, d)
	}
	for _, d := range s.Dependencies {
		if part, ok := d.(*jsonschema.Schema); ok {
			parts = append(parts, part)
		}
	}
	return parts
}

// members are the parts that are held against the members of an object, and their names.
func members(s *jsonschema.Schema) []*jsonschema.Schema {
	parts := []*jsonschema.Schema{s.PropertyNames, s.UnevaluatedProperties}
	if more, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
		parts = append(parts, more)
	}
	for _, p := range s.Properties {
		parts = append(parts, p)
	}
	for _, p := range s.PatternProperties {
		parts = append(parts, p)
	}
	return parts
}
