package gemini

import (
	"sluice/internal/dialect/jsonschema"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// jsonschema.refMember is the member of a schema that refers to another schema.
const refMember = "$ref"

// refused are the members of JSON schemas that OpenAPI schemas do not have. Models before
// 2.5 refuse a call that has an unknown name in a schema.
// Source: contract/provider-transforms.md 4.3; https://ai.google.dev/api/caching#Schema, read 2026-11.
var refused = map[string]bool{
	"additionalProperties": true, "additional_properties": true, "$schema": true, "$defs": true, "definitions": true, "strict": true,
	refMember: true, "$id": true, "$anchor": true, "$comment": true, "$dynamicRef": true, "$dynamicAnchor": true, "$vocabulary": true,
	"propertyNames": true, "patternProperties": true, "unevaluatedProperties": true, "unevaluatedItems": true, "dependentRequired": true,
	"dependentSchemas": true, "dependencies": true, "if": true, "then": true, "else": true, "contains": true, "minContains": true,
	"maxContains": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true, "uniqueItems": true, "examples": true,
	"readOnly": true, "writeOnly": true, "deprecated": true, "contentEncoding": true, "contentMediaType": true, "contentSchema": true,
}

// openAPI rewrites a JSON schema for models that support only a part of OpenAPI schemas.
// It omits the members that they refuse, inlines references and turns a type that may be
// null into a nullable one. A reference that leads nowhere or back to itself becomes a
// string, because these models require a type and refuse an object without properties.
// Source: contract/provider-transforms.md 4.3.
func openAPI(schema []byte) []byte {
	s := rewriter{refs: jsonschema.NewRefs(schema)}
	s.value(schema, nil, 0)
	return s.B
}

type rewriter struct {
	jsonwriter.Writer
	refs *jsonschema.Refs
}

// value rewrites one schema. path contains the references that led to it.
func (s *rewriter) value(raw []byte, path []string, depth int) {
	if len(raw) == 0 || raw[0] != '{' || depth > jsonschema.MaxDepth || len(s.B) > jsonschema.MaxBytes {
		s.Value(raw)
		return
	}
	to, next, ok := s.refs.Follow(raw, path)
	if ok && to[0] != '{' {
		s.Value(to)
		return
	}
	s.Open('{')
	if _, refers := jsonedit.Find(raw, refMember); refers && !ok {
		if _, typed := jsonedit.Find(raw, "type"); !typed {
			s.Str("type", "string")
		}
	}
	if ok {
		s.merged(to, raw, next, depth)
	} else {
		s.members(raw, nil, path, depth)
	}
	s.Close('}')
}

// merged writes the members of a referenced schema together with the other members next
// to the reference. The other members win:
// {"$ref":"#/$defs/address","description":"where it goes"}.
func (s *rewriter) merged(to, raw []byte, path []string, depth int) {
	siblings := named(raw)
	s.inlineMembers(to, siblings, path, depth)
	s.members(raw, map[string]bool{"$ref": true}, path, depth)
}

// inlineMembers writes the members of a schema without its brackets, except for some. The
// members may be in the schema or in the one that it refers to.
func (s *rewriter) inlineMembers(raw []byte, but map[string]bool, path []string, depth int) {
	if depth > jsonschema.MaxDepth {
		return
	}
	for range jsonschema.MaxDepth {
		to, next, ok := s.refs.Follow(raw, path)
		if !ok {
			break
		}
		raw, path = to, next
	}
	s.members(raw, but, path, depth+1)
}

// named returns the names of a schema's members that override those of another schema.
// Choices are not included, because one replaces the other.
func named(raw []byte) map[string]bool {
	names := map[string]bool{}
	for name := range jsonedit.Members(raw) {
		switch key, _ := jsonedit.Unquote(name); key {
		case "anyOf", "oneOf", "any_of", "one_of", "$ref":
		default:
			names[key] = true
		}
	}
	return names
}

// members writes the members of a schema without its brackets, except for some.
func (s *rewriter) members(raw []byte, but map[string]bool, path []string, depth int) {
	for name, val := range jsonedit.Members(raw) {
		key, _ := jsonedit.Unquote(name)
		if but[key] || refused[key] {
			continue
		}
		switch key {
		case "anyOf", "oneOf", "any_of", "one_of":
			s.union(val, raw, path, depth)
		case "type":
			s.types(val)
		case "properties":
			s.Key(key).Open('{')
			for n, v := range jsonedit.Members(val) {
				s.Key(string(n[1 : len(n)-1]))
				s.value(v, path, depth+1)
			}
			s.Close('}')
		case "items", "not":
			s.Key(key)
			s.value(val, path, depth+1)
		case "const":
			s.Key("enum").Open('[')
			s.Value(val)
			s.Close(']')
		case "allOf", "prefixItems":
			s.Key(key).Open('[')
			for v := range jsonedit.Elements(val) {
				s.value(v, path, depth+1)
			}
			s.Close(']')
		default:
			s.Key(string(name[1 : len(name)-1])).Value(val)
		}
	}
}

// types writes a type. A list that contains null is a nullable type. If several other
// types remain, each becomes a member of anyOf.
func (s *rewriter) types(val []byte) {
	if val[0] != '[' {
		s.Key("type").Value(val)
		return
	}
	var others [][]byte
	null := false
	for t := range jsonedit.Elements(val) {
		if string(t) == `"null"` {
			null = true
		} else {
			others = append(others, t)
		}
	}
	switch {
	case len(others) == 1:
		s.Key("type").Value(others[0])
	case len(others) > 1:
		s.Key("anyOf").Open('[')
		for _, t := range others {
			s.Open('{')
			s.Key("type").Value(t)
			s.Close('}')
		}
		s.Close(']')
	}
	if null {
		s.Bool("nullable", true)
	}
}

// union writes the choices of anyOf or oneOf. If all but one are null, that one replaces
// the choice, and the members next to the choice win.
func (s *rewriter) union(val, siblings []byte, path []string, depth int) {
	var others [][]byte
	null := false
	for v := range jsonedit.Elements(val) {
		if typ, ok := jsonedit.Find(v, "type"); ok && string(typ) == `"null"` {
			null = true
		} else {
			others = append(others, v)
		}
	}
	switch {
	case null && len(others) == 1:
		s.inlineMembers(others[0], named(siblings), path, depth)
	case len(others) > 0:
		s.Key("anyOf").Open('[')
		for _, v := range others {
			s.value(v, path, depth+1)
		}
		s.Close(']')
	}
	if null {
		s.Bool("nullable", true)
	}
}
