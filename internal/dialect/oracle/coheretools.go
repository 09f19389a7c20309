package oracle

import (
	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// tools writes the functions. The format has no tool choice. To prevent calls, tools omits
// the functions. Any other choice is dropped.
func (w *cohereWriter) tools() {
	if c := &w.c.Choice; c.Mode != "" && c.Mode != "auto" && c.Mode != "none" {
		w.t.Drop(c.From)
	}
	open := false
	for i := range w.c.Tools {
		t := &w.c.Tools[i]
		path := fields.ElementPath("tools", t.Index)
		switch {
		case t.Type != llm.Function:
			w.t.Drop(path)
			continue
		case w.c.Choice.Mode == "none":
			continue
		case !open:
			w.Key("tools").Open('[')
			open = true
		}
		w.tool(t, path)
	}
	if open {
		w.Close(']')
	}
}

func (w *cohereWriter) tool(t *llm.Tool, path string) {
	w.Open('{')
	w.Str("name", t.Name)
	w.Str("description", t.Description) // required
	w.definitions(t.Schema, path)
	w.Close('}')
	if t.Strict != nil && *t.Strict {
		w.t.Drop(fields.NestedPath(w.c, path, "function") + ".strict")
	}
	if t.Cache != nil {
		w.t.Drop(path + ".cache_control")
	}
}

// definitions writes the parameters of a tool: name, type and description of each, and
// whether it is required. Other schema members of a parameter follow its description, so
// that the model reads them. Schema members about all parameters are dropped.
func (w *cohereWriter) definitions(schema []byte, path string) {
	if len(schema) == 0 {
		return
	}
	required := map[string]bool{}
	var properties []byte
	for name, val := range jsonedit.Members(schema) {
		switch keyword, _ := jsonedit.Unquote(name); keyword {
		case "properties":
			properties = val
		case "required":
			for r := range jsonedit.Elements(val) {
				key, _ := jsonedit.Unquote(r)
				required[key] = true
			}
		case "type", "additionalProperties", "$schema", "title":
		default:
			w.t.Drop(w.schemaAt(path) + "." + keyword)
		}
	}
	w.Key("parameterDefinitions").Open('{')
	for name, val := range jsonedit.Members(properties) {
		key, _ := jsonedit.Unquote(name)
		w.Member(key).Open('{')
		w.Str("type", kindOf(val))
		w.Opt("description", describe(val))
		w.Bool("isRequired", required[key])
		w.Close('}')
	}
	w.Close('}')
}

// schemaAt returns the path of a tool's schema in the caller's body.
func (w *cohereWriter) schemaAt(path string) string {
	if w.c.Surface == llm.Messages {
		return path + ".input_schema"
	}
	return fields.NestedPath(w.c, path, "function") + ".parameters"
}

// types maps the types of JSON schemas to Cohere's names, which are Python's.
// Source: https://docs.cohere.com/v1/docs/parameter-types-in-tool-use, read 2026-11.
var types = map[string]string{"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}

// kindOf is the type of a parameter; of several types, or of none, whatever fits.
func kindOf(schema []byte) string {
	if kind := types[jsonedit.Text(schema, "type")]; kind != "" {
		return kind
	}
	return "Any"
}

// describe returns the description of a parameter, followed by its schema if that contains
// more than a type.
func describe(schema []byte) string {
	text, more := jsonedit.Text(schema, "description"), false
	for name := range jsonedit.Members(schema) {
		switch string(name) {
		case `"type"`, `"description"`, `"title"`:
		default:
			more = true
		}
	}
	switch {
	case !more:
		return text
	case text == "":
		return "JSON schema: " + string(schema)
	}
	return text + "\nJSON schema: " + string(schema)
}
