package demo

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Limits of a sample: a schema may refer to itself.
const (
	maxSampleDepth = 16
	maxSampleNodes = 1000
)

// format is response_format of chat, or text.format of responses, where the schema is one level
// higher.
type format struct {
	Type       string         `json:"type"`
	Schema     map[string]any `json:"schema"`
	JSONSchema struct {
		Schema map[string]any `json:"schema"`
	} `json:"json_schema"`
}

func (f format) wantsJSON() bool { return f.Type == "json_object" || f.Type == "json_schema" }

// sample returns a JSON text that matches the format: one generated from the schema, or for a
// bare json_object the question under "answer".
func (f format) sample(text string) string {
	schema := f.JSONSchema.Schema
	if schema == nil {
		schema = f.Schema
	}
	if f.Type == "json_object" || schema == nil {
		schema = map[string]any{"properties": map[string]any{"answer": map[string]any{"type": "string"}}}
	}
	return sample(schema, text)
}

// sample returns JSON that a schema describes: constants, defaults and first
// choices where it has them, the text for strings, 1 for numbers, true for
// booleans, one item for arrays, and all properties of objects.
func sample(schema map[string]any, text string) string {
	s := sampler{root: schema, text: quote(text), left: maxSampleNodes}
	v := s.value(schema, maxSampleDepth)
	if v == nil {
		v = map[string]any{}
	}
	b, err := json.Marshal(v)
	if err != nil { // v came from JSON
		return "{}"
	}
	return string(b)
}

type sampler struct {
	root map[string]any
	text string
	left int // nodes that may still be created
}

func (s *sampler) value(schema map[string]any, depth int) any {
	if s.left--; s.left < 0 || depth == 0 {
		return nil
	}
	if v, ok := explicitValue(schema); ok {
		return v
	}
	if next := s.other(schema); next != nil {
		return s.value(next, depth-1)
	}
	switch kind(schema) {
	case "object":
		return s.object(schema, depth)
	case "array":
		return s.array(schema, depth)
	case "string":
		return s.text
	case "integer", "number":
		return 1
	case "boolean":
		return true
	}
	return nil
}

// explicitValue returns a value that the schema itself contains.
func explicitValue(schema map[string]any) (any, bool) {
	for _, k := range []string{"const", "default"} {
		if v, ok := schema[k]; ok {
			return v, true
		}
	}
	for _, k := range []string{"enum", "examples"} {
		if vs, ok := schema[k].([]any); ok && len(vs) > 0 {
			return vs[0], true
		}
	}
	return nil, false
}

// other returns the schema that replaces this one: a $ref's, or the first choice.
func (s *sampler) other(schema map[string]any) map[string]any {
	if ref, ok := schema["$ref"].(string); ok {
		return s.resolve(ref)
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		if vs, ok := schema[k].([]any); ok && len(vs) > 0 {
			first, _ := vs[0].(map[string]any)
			return first
		}
	}
	return nil
}

// resolve follows a reference inside the document, for example "#/$defs/city".
func (s *sampler) resolve(ref string) map[string]any {
	node := s.root
	for _, name := range strings.Split(strings.TrimPrefix(ref, "#"), "/") {
		if name == "" {
			continue
		}
		if node, _ = node[name].(map[string]any); node == nil {
			return nil
		}
	}
	return node
}

func (s *sampler) object(schema map[string]any, depth int) any {
	out := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) { // in order: the node limit must cut at the same place
		if sub, ok := properties[name].(map[string]any); ok {
			out[name] = s.value(sub, depth-1)
		}
	}
	return out
}

func (s *sampler) array(schema map[string]any, depth int) any {
	items, ok := schema["items"].(map[string]any)
	if !ok {
		return []any{}
	}
	return []any{s.value(items, depth-1)}
}

func kind(schema map[string]any) string {
	switch t := schema["type"].(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			first, _ := t[0].(string)
			return first
		}
	}
	if _, ok := schema["properties"]; ok {
		return "object"
	}
	return "null"
}
