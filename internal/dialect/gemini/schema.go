package gemini

import (
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/splice"
)

// openAPI rewrites a JSON schema for models that know only a part of OpenAPI's: what
// they refuse is left out, references are put in place, and a type that may be null
// becomes a nullable one. A reference that leads back to itself stays as it is.
// Source: contract/provider-transforms.md 4.3.
func openAPI(schema []byte) []byte {
	s := rewriter{root: schema}
	s.value(schema, nil, 0)
	return s.B
}

// The largest result of a schema whose references are put in place, and how deep they
// may nest: without a bound a small schema could grow without one.
const (
	schemaMax      = 1 << 20
	schemaMaxDepth = 64
)

type rewriter struct {
	dialect.JSON
	root []byte
}

// value rewrites one schema. Path are the references that led here.
func (s *rewriter) value(raw []byte, path []string, depth int) {
	if len(raw) == 0 || raw[0] != '{' || depth > schemaMaxDepth || len(s.B) > schemaMax {
		s.Value(raw)
		return
	}
	if to, next, ok := s.follow(raw, path); ok {
		s.value(to, next, depth+1)
		return
	}
	s.Open('{')
	s.members(raw, path, depth)
	s.Close('}')
}

// members writes the members of a schema without its brackets.
func (s *rewriter) members(raw []byte, path []string, depth int) {
	for name, val := range splice.Members(raw) {
		key, _ := splice.Unquote(name)
		switch key {
		case "additionalProperties", "additional_properties", "$schema", "$defs", "definitions", "strict":
		case "anyOf", "oneOf", "any_of", "one_of":
			s.union(val, path, depth)
		case "type":
			s.types(val)
		case "properties":
			s.Key(key).Open('{')
			for n, v := range splice.Members(val) {
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
			for v := range splice.Elements(val) {
				s.value(v, path, depth+1)
			}
			s.Close(']')
		default:
			s.Key(string(name[1 : len(name)-1])).Value(val)
		}
	}
}

// types writes a type. A list with null in it is a nullable type; of several others
// each becomes a member of anyOf.
func (s *rewriter) types(val []byte) {
	if val[0] != '[' {
		s.Key("type").Value(val)
		return
	}
	var others [][]byte
	null := false
	for t := range splice.Elements(val) {
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

// union writes the choices of anyOf or oneOf. Where all but one are null, that one
// stands in place of the choice.
func (s *rewriter) union(val []byte, path []string, depth int) {
	var others [][]byte
	null := false
	for v := range splice.Elements(val) {
		if typ, ok := splice.Find(v, "type"); ok && string(typ) == `"null"` {
			null = true
		} else {
			others = append(others, v)
		}
	}
	switch {
	case null && len(others) == 1:
		one, next := others[0], path
		if to, longer, ok := s.follow(one, path); ok {
			one, next = to, longer
		}
		s.members(one, next, depth+1)
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

// follow finds what {"$ref":"#/$defs/address"} stands for. It reports false for what is
// no reference into the schema itself, and for one that leads back to itself.
func (s *rewriter) follow(raw []byte, path []string) (to []byte, next []string, ok bool) {
	ref, found := splice.Find(raw, "$ref")
	name, isText := splice.Unquote(ref)
	if !found || !isText {
		return nil, nil, false
	}
	for _, p := range path {
		if p == name {
			return nil, nil, false
		}
	}
	keys, local := strings.CutPrefix(name, "#/")
	if !local {
		return nil, nil, false
	}
	if to, found = splice.Find(s.root, strings.Split(keys, "/")...); !found {
		return nil, nil, false
	}
	return to, append(path[:len(path):len(path)], name), true
}
