package gemini

import (
	"encoding/json"

	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonschema"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// toolWriter writes the tools of a request and the choice between them.
type toolWriter struct {
	*callBody
	// lookup is the user's location from a built-in tool. It is written separately from
	// the tool.
	lookup []byte
}

// tools writes the tools of the model. All functions share one tool. Each of Google's built-in
// tools is a separate tool.
// Source: contract/provider-transforms.md 4.2.
func (w *toolWriter) tools() {
	var functions []*llm.Tool
	open := false
	for i := range w.c.Tools {
		t := &w.c.Tools[i]
		if t.Cache != nil {
			w.t.Drop(fields.ElementPath("tools", t.Index) + ".cache_control")
		}
		native, known := builtinOf(t)
		switch {
		case known:
			open = w.list(open)
			w.builtin(native, t)
		case t.Type == llm.Function:
			functions = append(functions, t)
		case t.Shape == shapeName:
			open = w.list(open)
			w.Value(t.Raw)
		default:
			w.t.Drop(fields.ElementPath("tools", t.Index))
		}
	}
	if len(functions) > 0 {
		open = w.list(open)
		w.declarations(functions)
	}
	if open {
		w.Close(']')
	}
}

// list opens the list of tools before the first tool.
func (w *toolWriter) list(open bool) bool {
	if !open {
		w.Key("tools").Open('[')
	}
	return true
}

func (w *toolWriter) declarations(functions []*llm.Tool) {
	w.Open('{')
	w.Key("functionDeclarations").Open('[')
	for _, t := range functions {
		w.Open('{')
		w.Str("name", t.Name)
		w.Opt("description", t.Description)
		if t.Schema != nil {
			w.schema("parameters", "parametersJsonSchema", t.Schema)
		}
		w.Close('}')
		if t.Strict != nil && *t.Strict {
			w.t.Drop(fields.NestedPath(w.c, fields.ElementPath("tools", t.Index), "function") + ".strict")
		}
	}
	w.Close(']')
	w.Close('}')
}

// schema writes a JSON schema. Models that support JSON schemas receive it unchanged, except for
// references that they reject. For other models it is rewritten to the subset of OpenAPI that
// they support.
func (w *callBody) schema(older, newer string, raw json.RawMessage) {
	if w.m.jsonSchema() {
		w.Raw(newer, jsonschema.CheckedRefs(raw))
		return
	}
	w.Raw(older, openAPI(raw))
}

// builtin is a tool that Google runs. fields are the names of its settings. They are in the
// schema of a function with its name, or in a tool with its type.
type builtin struct {
	name   string
	fields []string
}

// builtins maps the name of a function or the type of a tool to the built-in tool.
// Source: contract/provider-transforms.md 4.2;
// https://ai.google.dev/api/caching#Tool, read 2026-11.
var builtins = func() map[string]builtin {
	out := map[string]builtin{}
	for _, b := range [...]struct {
		builtin
		also string
	}{
		{builtin{"googleSearch", []string{"timeRangeFilter"}}, "google_search"},
		{builtin{"googleSearchRetrieval", []string{"dynamicRetrievalConfig"}}, "google_search_retrieval"},
		{builtin{"enterpriseWebSearch", nil}, "enterprise_web_search"},
		{builtin{"computerUse", []string{"environment", "excludedPredefinedFunctions"}}, "computer_use"},
		{builtin{"googleMaps", []string{"enableWidget"}}, "google_maps"},
		{builtin{"codeExecution", nil}, "code_execution"},
		{builtin{"urlContext", nil}, "url_context"},
	} {
		out[b.name], out[b.also] = b.builtin, b.builtin
	}
	return out
}()

// IsBuiltin reports whether Google runs the function with this name.
func IsBuiltin(name string) bool {
	_, ok := builtinOf(&llm.Tool{Type: llm.Function, Name: name})
	return ok
}

func builtinOf(t *llm.Tool) (builtin, bool) {
	name := t.Type
	if t.Type == llm.Function {
		if name = t.Name; name == "code_execution" || name == "codeExecution" {
			return builtin{}, false // code execution is a tool type; a function with this name is the caller's
		}
	}
	b, ok := builtins[name]
	return b, ok
}

func (w *toolWriter) builtin(b builtin, t *llm.Tool) {
	set := t.Schema
	if t.Type != llm.Function {
		set = settingsOf(t)
	}
	w.Open('{')
	w.Key(b.name).Open('{')
	for _, name := range b.fields {
		if raw, ok := find(set, name); ok {
			w.Raw(name, raw)
		}
	}
	w.Close('}')
	w.Close('}')
	if b.name == "googleMaps" {
		w.lookup = lookup(set)
	}
}

// settingsOf returns the settings of a built-in tool: {"type":"google_maps","google_maps":{…}},
// or the tool itself if they are next to the type.
func settingsOf(t *llm.Tool) json.RawMessage {
	if raw, ok := jsonedit.Find(t.Raw, t.Type); ok {
		return raw
	}
	return t.Raw
}

// lookup returns the retrievalConfig of googleMaps, which contains the user's location and
// language. It returns nil if there is none.
func lookup(set []byte) []byte {
	var w writer
	w.Open('{')
	for _, name := range [...]string{"latLng", "languageCode"} {
		if raw, ok := find(set, name); ok {
			w.Raw(name, raw)
		}
	}
	w.Close('}')
	if len(w.B) == len("{}") {
		return nil
	}
	return w.B
}

// find returns the member with this name, "timeRangeFilter", or with its snake-case form,
// "time_range_filter".
func find(raw []byte, name string) (json.RawMessage, bool) {
	if v, ok := jsonedit.Find(raw, name); ok {
		return v, true
	}
	return jsonedit.Find(raw, snake(name))
}

// snake converts "timeRangeFilter" to "time_range_filter".
func snake(name string) string {
	var out []byte
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' {
			out = append(out, '_', c+'a'-'A')
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}

// toolConfig writes the tool choice and the user's location.
func (w *toolWriter) toolConfig() {
	choice := toolcalls.ChoiceAmong(w.t, w.c, declared)
	mode := w.mode(choice)
	if mode == "" && w.lookup == nil {
		return
	}
	w.Key("toolConfig").Open('{')
	if mode != "" {
		w.Key("functionCallingConfig").Open('{')
		w.Str("mode", mode)
		if choice.Mode == "tool" {
			w.Key("allowedFunctionNames").Open('[')
			w.Text(choice.Name)
			w.Close(']')
		}
		w.Close('}')
	}
	w.Raw("retrievalConfig", w.lookup)
	w.Close('}')
}

// declared reports whether a tool is a function of the caller.
func declared(t *llm.Tool) bool {
	_, native := builtinOf(t)
	return !native && toolcalls.IsFunction(t)
}

func (w *toolWriter) mode(c llm.ToolChoice) string {
	switch c.Mode {
	case "auto":
		return "AUTO"
	case "none":
		return "NONE"
	case "required", "tool":
		return "ANY"
	case "opaque":
		w.t.Drop(c.From)
	}
	return ""
}
