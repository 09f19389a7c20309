package anthropic

import (
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonschema"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/llm"
)

// onlyJSON is the instruction for callers who request any JSON object. Anthropic does not have a
// parameter for that.
// Source: contract/provider-transforms.md 2.1.
const onlyJSON = "Answer with one JSON object and nothing else."

// wantsJSON reports whether the call requests JSON without a schema.
func wantsJSON(c *llm.Call) bool { return c.Format != nil && c.Format.Type == "json_object" }

// format returns the response format for output_config, nil for none. Anthropic always follows
// the schema and does not have a name for it.
func (w *parameterWriter) format() []byte {
	f := w.c.Format
	if f == nil || f.Type != "json_schema" {
		return nil
	}
	if f.Description != "" {
		w.t.Drop(descriptionPath(w.c))
	}
	schema := f.Schema
	if w.c.Surface != llm.Messages { // callers of messages write their schemas for Claude
		schema = jsonschema.Restrict(schema, schemaPath(w.c), w.t.Drop)
	}
	var out jsonwriter.Writer
	out.Open('{')
	out.Str("type", "json_schema")
	out.Raw("schema", schema)
	out.Close('}')
	return out.B
}

func descriptionPath(c *llm.Call) string {
	return fields.NestedPath(c, c.Format.From, "json_schema") + ".description"
}

func schemaPath(c *llm.Call) string {
	return fields.NestedPath(c, c.Format.From, "json_schema") + ".schema"
}
