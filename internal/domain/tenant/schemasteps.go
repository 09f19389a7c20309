package tenant

import "github.com/santhosh-tekuri/jsonschema/v6"

// maxSteps is the maximum number of steps of a metadata check: the visited parts of a schema,
// where a part with several references counts several times. Without a limit, a schema of a few
// kilobytes with forty definitions that each refer twice to the next one would occupy a
// processor, and the database writer with it, for years.
const maxSteps = 10_000

// counting counts the steps of schemas. It caches each count, so that counting takes no longer
// than reading the schema.
type counting map[stepKey]int

// stepKey is a schema that is applied to an object, or to a string in one.
type stepKey struct {
	schema *jsonschema.Schema
	text   bool
}

// count returns the number of steps, at most maxSteps+1. A recursive schema also returns
// maxSteps+1.
func (c counting) count(s *jsonschema.Schema, text bool) int {
	if s == nil {
		return 0
	}
	key := stepKey{s, text}
	if n, known := c[key]; known {
		return n
	}
	c[key] = maxSteps + 1 // value during the count
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

// same returns the parts of a schema that apply to the same value as the schema.
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

// members returns the parts that apply to the members of an object, and to their names.
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
