package jsonschema

import (
	"strings"

	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// Restrict rewrites the JSON schema of a response with the keywords that Claude and Bedrock
// enforce. They reject all others. The content of the others is appended to the descriptions, which
// models read: {"type":"integer","minimum":3} becomes {"type":"integer","description":"{minimum: 3}"}.
// Objects allow only named members, because schemas that allow others are rejected too. Drop is
// called with the path, below path, of each keyword that is no longer enforced:
// "schema.properties.n.minimum".
// Source: @anthropic-ai/sdk 1.10.0 (transform-json-schema);
// https://platform.claude.com/docs/en/build-with-claude/structured-outputs,
// https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html, read 2026-11.
func Restrict(schema []byte, path string, drop func(path string)) []byte {
	n := narrower{drop: drop}
	n.schema(schema, path, 0)
	return n.B
}

type narrower struct {
	jsonwriter.Writer
	drop func(path string)
}

// supportedKeywords are the schema keywords that remain unchanged.
var supportedKeywords = map[string]bool{
	"type": true, "enum": true, "const": true, "title": true, "required": true, "default": true, "pattern": true, "$ref": true,
}

// supportedFormats are the string formats that are enforced.
var supportedFormats = map[string]bool{
	"date-time": true, "time": true, "date": true, "duration": true, "email": true, "hostname": true, "uri": true, "ipv4": true, "ipv6": true, "uuid": true,
}

// Schema keywords that contain schemas: by name, in a list, or one.
var (
	schemasByName = map[string]bool{"properties": true, "$defs": true, "definitions": true}
	schemaLists   = map[string]string{"anyOf": "anyOf", "oneOf": "anyOf", "allOf": "allOf"}
)

func (n *narrower) schema(raw []byte, path string, depth int) {
	if len(raw) == 0 || raw[0] != '{' || depth > MaxDepth {
		n.Value(raw)
		return
	}
	_, both := jsonedit.Find(raw, "anyOf") // then the description contains oneOf
	note, object := n.unsupportedKeywords(raw, path, both)
	described := false
	n.Open('{')
	for name, val := range jsonedit.Members(raw) {
		key, _ := jsonedit.Unquote(name)
		switch {
		case key == "description":
			text, _ := jsonedit.Unquote(val)
			n.Str("description", strings.TrimPrefix(text+note, "\n\n"))
			described = true
		case schemasByName[key] && len(val) > 0 && val[0] == '{':
			n.RawKey(name).Open('{')
			for inner, v := range jsonedit.Members(val) {
				plain, _ := jsonedit.Unquote(inner)
				n.RawKey(inner)
				n.schema(v, path+"."+key+"."+plain, depth+1)
			}
			n.Close('}')
		case key == "oneOf" && both:
		case schemaLists[key] != "" && len(val) > 0 && val[0] == '[':
			n.Key(schemaLists[key]).Open('[')
			i := 0
			for v := range jsonedit.Elements(val) {
				n.schema(v, fields.ElementPath(path+"."+key, i), depth+1)
				i++
			}
			n.Close(']')
		case key == "items":
			n.RawKey(name)
			n.schema(val, path+"."+key, depth+1)
		case isSupportedKeyword(key, val):
			n.RawKey(name).Value(val)
		}
	}
	if !described && note != "" {
		n.Str("description", strings.TrimPrefix(note, "\n\n"))
	}
	if object {
		n.Bool("additionalProperties", false)
	}
	n.Close('}')
}

// unsupportedKeywords returns the keywords of a schema that are not enforced, as an addition to its
// description, and whether the schema describes objects. Both means that the schema has anyOf, in
// addition to which oneOf is not enforced.
func (n *narrower) unsupportedKeywords(raw []byte, path string, both bool) (note string, object bool) {
	var keywords []string
	for name, val := range jsonedit.Members(raw) {
		switch key, _ := jsonedit.Unquote(name); {
		case key == "properties" || key == "type" && strings.Contains(string(val), `"object"`):
			object = true
		case key == "additionalProperties" && string(val) == "false", key == "$schema", key == "description", key == "items", schemasByName[key], schemaLists[key] != "" && (key != "oneOf" || !both), isSupportedKeyword(key, val):
		default:
			keywords = append(keywords, key+": "+string(val))
			n.drop(path + "." + key)
		}
	}
	if len(keywords) == 0 {
		return "", object
	}
	return "\n\n{" + strings.Join(keywords, ", ") + "}", object
}

// isSupportedKeyword reports whether a schema keyword remains unchanged.
func isSupportedKeyword(key string, val []byte) bool {
	switch key {
	case "format":
		format, _ := jsonedit.Unquote(val)
		return supportedFormats[format]
	case "minItems":
		return string(val) == "0" || string(val) == "1"
	}
	return supportedKeywords[key]
}
