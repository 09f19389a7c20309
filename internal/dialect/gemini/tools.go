package gemini

import (
	"encoding/json"

	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// tools writes what the model may use: functions together in one tool, and each of
// Google's own in a tool of its own.
// Source: contract/provider-transforms.md 4.2.
func (w *writer) tools() {
	var functions []*llm.Tool
	open := false
	for i := range w.c.Tools {
		t := &w.c.Tools[i]
		if t.Cache != nil {
			w.t.Drop(dialect.ElementPath("tools", t.Index) + ".cache_control")
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
			w.t.Drop(dialect.ElementPath("tools", t.Index))
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

// list begins the list of tools with the first of them.
func (w *writer) list(open bool) bool {
	if !open {
		w.Key("tools").Open('[')
	}
	return true
}

func (w *writer) declarations(functions []*llm.Tool) {
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
			w.t.Drop(dialect.NestedPath(w.c, dialect.ElementPath("tools", t.Index), "function") + ".strict")
		}
	}
	w.Close(']')
	w.Close('}')
}

// schema writes a JSON schema: as it is where the model reads such, but for references that it
// refuses, otherwise rewritten into the part of OpenAPI's that it knows.
func (w *writer) schema(older, newer string, raw json.RawMessage) {
	if w.m.jsonSchema() {
		w.Raw(newer, dialect.CheckedRefs(raw))
		return
	}
	w.Raw(older, openAPI(raw))
}

// builtin is a tool that Google runs. Fields are its settings, which stand in the
// parameters of a function of its name, or beside the type of a tool of its type.
type builtin struct {
	name   string
	fields []string
}

// builtins are found by name of a function or by type of a tool.
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

// IsBuiltin reports whether a function of that name is one that Google runs.
func IsBuiltin(name string) bool {
	_, ok := builtinOf(&llm.Tool{Type: llm.Function, Name: name})
	return ok
}

func builtinOf(t *llm.Tool) (builtin, bool) {
	name := t.Type
	if t.Type == llm.Function {
		if name = t.Name; name == "code_execution" || name == "codeExecution" {
			return builtin{}, false // is a tool of that type; a function may be the caller's
		}
	}
	b, ok := builtins[name]
	return b, ok
}

func (w *writer) builtin(b builtin, t *llm.Tool) {
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

// settingsOf are the settings of {"type":"google_maps","google_maps":{…}}, or what
// stands beside the type.
func settingsOf(t *llm.Tool) json.RawMessage {
	if raw, ok := splice.Find(t.Raw, t.Type); ok {
		return raw
	}
	return t.Raw
}

// lookup is the retrievalConfig of googleMaps: where the user is, and which language
// they speak.
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

// find returns a member by its name, "timeRangeFilter", or by the same with
// underscores, "time_range_filter".
func find(raw []byte, name string) (json.RawMessage, bool) {
	if v, ok := splice.Find(raw, name); ok {
		return v, true
	}
	return splice.Find(raw, snake(name))
}

// snake turns "timeRangeFilter" into "time_range_filter".
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

// toolConfig writes whether the model shall call functions, and where the user is.
func (w *writer) toolConfig() {
	choice := dialect.ChoiceAmong(w.t, w.c, declared)
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

// declared reports whether a tool is a function of the caller's.
func declared(t *llm.Tool) bool {
	_, native := builtinOf(t)
	return !native && dialect.IsFunction(t)
}

func (w *writer) mode(c llm.ToolChoice) string {
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
