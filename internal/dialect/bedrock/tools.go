package bedrock

import (
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonschema"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// toolWriter writes the tools of a request and the choice between them.
type toolWriter struct{ *callBody }

// tools writes toolConfig: the functions and the tool choice. Converse cannot forbid tool calls. For
// the choice "none" it therefore omits the tools, unless the conversation contains calls, because
// Converse then requires them.
func (w *toolWriter) tools() {
	if w.c.Choice.Mode == "none" {
		if len(w.c.Called()) == 0 {
			return
		}
		w.t.Drop(w.c.Choice.From)
	}
	before := w.Writer
	w.Key("toolConfig").Open('{')
	w.Key("tools").Open('[')
	empty := len(w.B)
	for i := range w.c.Tools {
		w.tool(&w.c.Tools[i])
	}
	if len(w.B) == empty && len(w.native) == 0 {
		for _, name := range w.c.Called() {
			w.spec(&llm.Tool{Name: name})
		}
	}
	written := w.close(']', before, empty)
	choice := toolcalls.ChoiceAmong(w.t, w.c, toolcalls.IsFunction)
	if choice.Forces() && w.family == anthropic && !w.model.SupportsForcedTools() {
		w.t.Drop(choice.From)
		choice.Mode = "auto"
	}
	if written {
		w.choice(choice)
		w.Close('}')
	}
}

func (w *toolWriter) tool(t *llm.Tool) {
	if t.Type != llm.Function {
		if w.family != anthropic || t.Type == llm.Custom || t.Type == "mcp" {
			w.t.Drop(fields.ElementPath("tools", t.Index))
			return
		}
		w.native = append(w.native, t)
		return
	}
	w.spec(t)
	switch {
	case t.Cache == nil:
	case w.family == amazon: // Amazon's models reject it
		w.t.Drop(fields.ElementPath("tools", t.Index) + ".cache_control")
	default:
		w.cachePoint(t.Cache, fields.ElementPath("tools", t.Index))
	}
}

// spec writes a function.
func (w *toolWriter) spec(t *llm.Tool) {
	w.Open('{')
	w.Key("toolSpec").Open('{')
	w.Str("name", t.Name)
	w.Opt("description", t.Description)
	w.Key("inputSchema").Open('{')
	w.Raw("json", w.schema(t))
	w.Close('}')
	w.strict(t)
	w.Close('}')
	w.Close('}')
}

// strict writes whether the model must follow the schema. In strict mode, Claude accepts fewer schemas
// than OpenAI. From version 4.7 on, Claude rejects the member with any value, and Amazon's own models
// do not support it.
// Source: https://github.com/BerriAI/litellm/pull/39115, read 2026-11.
func (w *toolWriter) strict(t *llm.Tool) {
	switch {
	case t.Strict == nil:
	case w.family != anthropic && w.family != amazon:
		w.Bool("strict", *t.Strict)
	case *t.Strict:
		w.t.Drop(fields.NestedPath(w.c, fields.ElementPath("tools", t.Index), "function") + ".strict")
	}
}

// schema returns the schema of a tool's arguments. Amazon's own models support three members at its
// top level and ignore the tools if there are more. Schema generators often write more. Definitions
// are therefore inlined where they are referenced.
// Source: https://docs.aws.amazon.com/nova/latest/userguide/prompting-tool-troubleshooting.html, read 2026-11.
func (w *toolWriter) schema(t *llm.Tool) []byte {
	if w.family != amazon {
		return typed(t.Schema)
	}
	var o jsonwriter.Writer
	o.Open('{')
	o.Str("type", "object")
	for name, val := range jsonedit.Members(jsonschema.InlineRefs(t.Schema)) {
		switch n := plain(name); n {
		case "type", "$schema", "title", "description", "additionalProperties", "$defs", "definitions": // no reference to these remains
		case "properties", "required":
			o.Raw(n, val)
		default:
			w.t.Drop(w.schemaPath(t) + "." + n)
		}
	}
	o.Close('}')
	return o.B
}

func (w *toolWriter) schemaPath(t *llm.Tool) string {
	path := fields.NestedPath(w.c, fields.ElementPath("tools", t.Index), "function")
	if w.c.Surface == llm.Messages {
		return path + ".input_schema"
	}
	return path + ".parameters"
}

// typed returns a schema of arguments with the type that Bedrock requires.
func typed(schema []byte) []byte {
	const head = `{"type":"object"`
	if _, ok := jsonedit.Find(schema, "type"); ok {
		return schema
	}
	out := []byte(head)
	for name, val := range jsonedit.Members(schema) {
		out = append(append(append(append(out, ','), name...), ':'), val...)
	}
	return append(out, '}')
}

// choice writes toolChoice.
func (w *toolWriter) choice(c llm.ToolChoice) {
	switch c.Mode {
	case "", "none":
	case "auto":
		w.chosen("auto", "")
	case "required":
		w.chosen("any", "")
	case "tool":
		w.chosen("tool", c.Name)
	default:
		w.t.Drop(c.From)
	}
}

func (w *toolWriter) chosen(kind, name string) {
	w.Key("toolChoice").Open('{')
	w.Key(kind).Open('{')
	w.Opt("name", name)
	w.Close('}')
	w.Close('}')
}

// writeNative writes one of Anthropic's tools in Anthropic's format. Callers of chat write
// {"type":"web_search","web_search":{"name":"web_search_20250305","max_uses":2}} for
// {"type":"web_search_20250305","name":"web_search","max_uses":2}.
// Source: contract/provider-transforms.md 2.3.
func writeNative(o *jsonwriter.Writer, t *llm.Tool) {
	inner, ok := jsonedit.Find(t.Raw, t.Type)
	if t.Shape == anthropic || !ok {
		o.Value(t.Raw)
		return
	}
	o.Open('{')
	o.Str("type", jsonedit.Text(inner, "name"))
	o.Str("name", t.Type)
	for name, val := range jsonedit.Members(inner) {
		if string(name) != `"name"` {
			o.Raw(bare(name), val)
		}
	}
	o.Close('}')
}
