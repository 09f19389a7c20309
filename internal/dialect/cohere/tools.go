package cohere

import (
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/llm"
)

// anyObject is the schema of a tool without one, because Cohere requires a schema.
var anyObject = []byte(`{"type":"object","properties":{}}`)

// tools writes the functions; tools that other providers run are left out.
func (w *writer) tools() {
	toolcalls.WriteFunctions(&w.Writer, w.t, w.c, w.function)
	w.strict()
}

func (w *writer) function(t *llm.Tool, path string) {
	w.Open('{')
	w.Str("type", llm.Function)
	w.Key("function").Open('{')
	w.Str("name", t.Name)
	w.Opt("description", t.Description)
	if len(t.Schema) > 0 {
		w.Raw("parameters", t.Schema)
	} else {
		w.Raw("parameters", anyObject)
	}
	w.Close('}')
	w.Close('}')
	if t.Cache != nil {
		w.t.Drop(path + ".cache_control")
	}
}

// strict writes whether the calls must follow the schemas. Cohere has one setting for all tools. A
// strict setting of the response format takes precedence over those of the tools.
func (w *writer) strict() {
	if f := w.c.Format; f != nil && f.Type == "json_schema" && f.Strict != nil {
		w.Bool("strict_tools", *f.Strict)
		w.dropStrict(*f.Strict)
		return
	}
	all, some := true, false
	for i := range w.c.Tools {
		if t := &w.c.Tools[i]; t.Type == llm.Function {
			strict := t.Strict != nil && *t.Strict
			all, some = all && strict, some || strict
		}
	}
	if some && all {
		w.Bool("strict_tools", true)
		return
	}
	w.dropStrict(false)
}

// dropStrict reports the tools whose strict setting differs from the one sent.
func (w *writer) dropStrict(sent bool) {
	for i := range w.c.Tools {
		if t := &w.c.Tools[i]; t.Type == llm.Function && t.Strict != nil && *t.Strict != sent {
			w.t.Drop(fields.NestedPath(w.c, fields.ElementPath("tools", t.Index), "function") + ".strict")
		}
	}
}

// choice writes whether the model must call tools.
func (w *writer) choice() { w.Opt("tool_choice", toolcalls.ChoiceOfTools(w.t, w.c)) }

// format writes the response format. Cohere does not support names of schemas.
func (w *writer) format() {
	f := w.c.Format
	if f == nil {
		return
	}
	w.Key("response_format").Open('{')
	if f.Type == "json_schema" {
		w.Str("type", "json_object")
		w.Raw("json_schema", f.Schema)
	} else {
		w.Str("type", f.Type)
	}
	w.Close('}')
	if f.Description != "" {
		w.t.Drop(fields.NestedPath(w.c, f.From, "json_schema") + ".description")
	}
}
