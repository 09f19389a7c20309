package workersai

import (
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/llm"
)

// tools writes the functions. Workers AI cannot be forced to call one of them. To prevent
// calls, tools omits all functions.
func (w *writer) tools() {
	if w.c.Choice.Mode == "none" {
		return
	}
	toolcalls.WriteFunctions(&w.Writer, w.t, w.c, w.function)
	if m := w.c.Choice.Mode; m != "" && m != "auto" {
		w.t.Drop(w.c.Choice.From)
	}
}

func (w *writer) function(t *llm.Tool, path string) {
	w.Open('{')
	w.Str("type", llm.Function)
	w.Key("function").Open('{')
	w.Str("name", t.Name)
	w.Str("description", t.Description)
	if len(t.Schema) > 0 {
		w.Raw("parameters", t.Schema)
	} else {
		w.Raw("parameters", []byte(`{"type":"object","properties":{}}`))
	}
	w.Close('}')
	w.Close('}')
	if t.Cache != nil {
		w.t.Drop(path + ".cache_control")
	}
	if t.Strict != nil && *t.Strict {
		w.t.Drop(fields.NestedPath(w.c, path, "function") + ".strict")
	}
}

// format writes the response format. A schema is directly under json_schema.
// Source: https://developers.cloudflare.com/workers-ai/features/json-mode/, read 2026-11.
func (w *writer) format() {
	f := w.c.Format
	if f == nil || f.Type == "text" {
		return
	}
	w.Key("response_format").Open('{')
	w.Str("type", f.Type)
	w.Raw("json_schema", f.Schema)
	w.Close('}')
	path := fields.NestedPath(w.c, f.From, "json_schema")
	if f.Description != "" {
		w.t.Drop(path + ".description")
	}
	if f.Strict != nil && *f.Strict {
		w.t.Drop(path + ".strict")
	}
}
