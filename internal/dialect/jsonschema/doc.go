// Package jsonschema adapts JSON schemas of tools and response formats to providers that support only
// a part of JSON Schema. Start with InlineRefs and Restrict.
package jsonschema
