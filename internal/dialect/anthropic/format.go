package anthropic

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
)

// onlyJSON is the instruction for callers who want some JSON object: Anthropic has no
// word for that.
// Source: contract/provider-transforms.md 2.1.
const onlyJSON = "Answer with one JSON object and nothing else."

// wantsJSON reports whether the call asks for JSON without saying which.
func wantsJSON(c *llm.Call) bool { return c.Format != nil && c.Format.Type == "json_object" }

// format is the form of the answer for output_config, nil for none. Anthropic always
// keeps to the schema and knows no name for it.
func (w *callWriter) format() []byte {
	f := w.c.Format
	if f == nil || f.Type != "json_schema" {
		return nil
	}
	if f.Description != "" {
		w.t.Drop(descriptionPath(w.c))
	}
	schema := f.Schema
	if w.c.Surface != llm.Messages { // whose callers write them for Claude
		schema = dialect.RestrictSchema(schema, schemaPath(w.c), w.t.Drop)
	}
	var out dialect.JSON
	out.Open('{')
	out.Str("type", "json_schema")
	out.Raw("schema", schema)
	out.Close('}')
	return out.B
}

func descriptionPath(c *llm.Call) string {
	return dialect.NestedPath(c, c.Format.From, "json_schema") + ".description"
}

func schemaPath(c *llm.Call) string {
	return dialect.NestedPath(c, c.Format.From, "json_schema") + ".schema"
}
