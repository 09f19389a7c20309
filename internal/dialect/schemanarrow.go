package dialect

import (
	"strings"

	"sluice/internal/splice"
)

// RestrictSchema is a JSON schema of an answer in the words that Claude and Bedrock keep answers to:
// they refuse all others. What the others say stands in the descriptions, which models read:
// {"type":"integer","minimum":3} is {"type":"integer","description":"{minimum: 3}"}. Objects
// take no members but those that are named, without which they are refused too. Lose is told
// where something is not kept to any more, below at: "schema.properties.n.minimum".
// Source: @anthropic-ai/sdk 1.10.0 (transform-json-schema);
// https://platform.claude.com/docs/en/build-with-claude/structured-outputs,
// https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html, read 2026-11.
func RestrictSchema(schema []byte, path string, drop func(path string)) []byte {
	n := narrower{drop: drop}
	n.schema(schema, path, 0)
	return n.B
}

type narrower struct {
	JSON
	drop func(path string)
}

// supportedKeywords are those of schemas that stay as they are.
var supportedKeywords = map[string]bool{
	"type": true, "enum": true, "const": true, "title": true, "required": true, "default": true, "pattern": true, "$ref": true,
}

// supportedFormats are the formats of texts that are kept to.
var supportedFormats = map[string]bool{
	"date-time": true, "time": true, "date": true, "duration": true, "email": true, "hostname": true, "uri": true, "ipv4": true, "ipv6": true, "uuid": true,
}

// Words of schemas that hold schemas: by name, in a list, or one.
var (
	schemasByName = map[string]bool{"properties": true, "$defs": true, "definitions": true}
	schemaLists   = map[string]string{"anyOf": "anyOf", "oneOf": "anyOf", "allOf": "allOf"}
)

func (n *narrower) schema(raw []byte, path string, depth int) {
	if len(raw) == 0 || raw[0] != '{' || depth > MaxSchemaDepth {
		n.Value(raw)
		return
	}
	_, both := splice.Find(raw, "anyOf") // then oneOf is said in the description
	note, object := n.unsupportedKeywords(raw, path, both)
	described := false
	n.Open('{')
	for name, val := range splice.Members(raw) {
		key, _ := splice.Unquote(name)
		switch {
		case key == "description":
			text, _ := splice.Unquote(val)
			n.Str("description", strings.TrimPrefix(text+note, "\n\n"))
			described = true
		case schemasByName[key] && len(val) > 0 && val[0] == '{':
			n.rawKey(name).Open('{')
			for inner, v := range splice.Members(val) {
				plain, _ := splice.Unquote(inner)
				n.rawKey(inner)
				n.schema(v, path+"."+key+"."+plain, depth+1)
			}
			n.Close('}')
		case key == "oneOf" && both:
		case schemaLists[key] != "" && len(val) > 0 && val[0] == '[':
			n.Key(schemaLists[key]).Open('[')
			i := 0
			for v := range splice.Elements(val) {
				n.schema(v, ElementPath(path+"."+key, i), depth+1)
				i++
			}
			n.Close(']')
		case key == "items":
			n.rawKey(name)
			n.schema(val, path+"."+key, depth+1)
		case isSupportedKeyword(key, val):
			n.rawKey(name).Value(val)
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

// unsupportedKeywords are the words of a schema that nobody keeps to, as a part of its description, and
// whether it is one of objects; both says that it has anyOf, beside which oneOf is not kept.
func (n *narrower) unsupportedKeywords(raw []byte, path string, both bool) (note string, object bool) {
	var keywords []string
	for name, val := range splice.Members(raw) {
		switch key, _ := splice.Unquote(name); {
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

// isSupportedKeyword reports whether a word of a schema stays as it is.
func isSupportedKeyword(key string, val []byte) bool {
	switch key {
	case "format":
		format, _ := splice.Unquote(val)
		return supportedFormats[format]
	case "minItems":
		return string(val) == "0" || string(val) == "1"
	}
	return supportedKeywords[key]
}
