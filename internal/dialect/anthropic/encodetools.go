package anthropic

import (
	"cmp"
	"strings"

	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// toolWriter writes the tools of a request and the choice between them.
type toolWriter struct{ *callBody }

// tools writes the tools and drops those of other providers. Anthropic requires tools when the
// conversation contains calls. If the caller lists no tools, tools writes one for each name that
// was called, and choice then forbids calling them.
func (w *toolWriter) tools() {
	for i := range w.c.Tools {
		t := &w.c.Tools[i]
		raw := builtIn(t)
		if raw == nil && !toolcalls.IsFunction(t) {
			w.t.Drop(fields.ElementPath("tools", t.Index))
			continue
		}
		w.beginTools()
		if raw != nil {
			w.Value(raw)
		} else {
			w.function(t)
		}
	}
	if !w.tooled {
		for _, name := range w.c.Called() {
			w.beginTools()
			w.function(&llm.Tool{Name: name})
		}
		w.spent = w.tooled
	}
	if w.tooled {
		w.Close(']')
	}
}

// supportsTool reports whether a tool can be part of a request for a message.
func supportsTool(t *llm.Tool) bool { return toolcalls.IsFunction(t) || builtIn(t) != nil }

func (w *toolWriter) beginTools() {
	if !w.tooled {
		w.Key("tools").Open('[')
		w.tooled = true
	}
}

// toolExtras lists the additional members of a tool that Anthropic supports.
// Source: https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-reference, read 2026-11.
var toolExtras = [...]string{"defer_loading", "allowed_callers", "input_examples", "eager_input_streaming"}

func (w *toolWriter) function(t *llm.Tool) {
	w.Open('{')
	w.Str("name", t.Name)
	w.Opt("description", t.Description)
	w.Raw("input_schema", objectSchema(t.Schema))
	w.cache(t.Cache)
	switch {
	case t.Strict == nil:
	case w.native():
		w.Bool("strict", *t.Strict)
	case *t.Strict: // Anthropic accepts fewer schemas than OpenAI in strict mode
		w.t.Drop(strictPath(w.c, t))
	}
	if w.native() {
		for _, p := range w.t.TakeAll(t.Extra) {
			w.Named(p.Name, p.Raw)
		}
	} else {
		for _, name := range toolExtras {
			if raw, ok := w.t.TakeFrom(t.Extra, name); ok {
				w.Raw(name, raw)
			}
		}
	}
	w.Close('}')
}

func strictPath(c *llm.Call, t *llm.Tool) string {
	if c.Surface == llm.ChatComplete {
		return fields.ElementPath("tools", t.Index) + ".function.strict"
	}
	return fields.ElementPath("tools", t.Index) + ".strict"
}

// objectSchema returns a schema with a type, which Anthropic requires.
func objectSchema(raw []byte) []byte {
	if _, ok := jsonedit.Find(raw, "type"); ok {
		return raw
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("type", "object")
	for key, val := range jsonedit.Members(raw) {
		w.Key(string(key[1 : len(key)-1])).Value(val)
	}
	w.Close('}')
	return w.B
}

// builtIn returns a tool that Anthropic defines, in Anthropic's format; nil for all others.
// Callers of chat write it as Anthropic does, or with its type and name exchanged:
// {"type":"web_search","web_search":{"name":"web_search_20250305","max_uses":2}}.
// Source: contract/provider-transforms.md 2.3.
func builtIn(t *llm.Tool) []byte {
	switch {
	case t.Type == llm.Function, t.Type == llm.Custom:
		return nil
	case t.Shape == shapeName, dated(t.Type):
		return t.Raw
	case t.Shape != chatShape:
		return nil
	}
	inner, _ := jsonedit.Find(t.Raw, t.Type)
	typ := jsonedit.Text(inner, "name")
	if typ == "" {
		return nil
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("type", typ)
	w.Str("name", t.Type)
	for key, val := range jsonedit.Members(inner) {
		if name := plainName(key); name != "name" {
			w.Named(name, val)
		}
	}
	if t.Cache != nil {
		if _, twice := jsonedit.Find(inner, "cache_control"); !twice {
			writeCache(&w, t.Cache)
		}
	}
	w.Close('}')
	return w.B
}

// dated reports whether a type ends in a date, as the types of Anthropic's tools do:
// "bash_20250124".
func dated(typ string) bool {
	i := strings.LastIndexByte(typ, '_')
	return i > 0 && len(typ)-i == 9 && strings.Trim(typ[i+1:], "0123456789") == ""
}

// choices maps the hub's tool choices to Anthropic's.
var choices = map[string]string{"auto": "auto", "none": "none", "required": "any", "tool": "tool"}

// choice writes whether the model must call tools, and whether only one at a time. It writes
// nothing for a request without tools, because Anthropic rejects a choice there.
func (w *toolWriter) choice() {
	c := toolcalls.ChoiceAmong(w.t, w.c, supportsTool)
	parallel, _ := w.t.Consume(llm.ParallelToolCalls)
	single := string(parallel) == "false"
	if w.spent {
		c = llm.ToolChoice{Mode: "none"}
	}
	if c.Forces() && !w.native() && !w.model.SupportsForcedTools() {
		w.t.Drop(c.From)
		c = llm.ToolChoice{Mode: "auto"}
	}
	switch {
	case c.Mode == "" && !single, !w.tooled:
		return
	case c.Mode == "opaque" && w.native():
		w.Raw("tool_choice", c.Raw)
		return
	case c.Mode == "opaque":
		w.t.Drop(c.From)
		if !single {
			return
		}
	}
	w.Key("tool_choice").Open('{')
	w.Str("type", cmp.Or(choices[c.Mode], "auto"))
	w.Opt("name", c.Name)
	if single && c.Mode != "none" {
		w.Bool("disable_parallel_tool_use", true)
	}
	w.Close('}')
}

func (w *callBody) cache(c *llm.Cache) { writeCache(&w.Writer, c) }

func writeCache(w *jsonwriter.Writer, c *llm.Cache) {
	if c == nil {
		return
	}
	w.Key("cache_control").Open('{')
	w.Str("type", "ephemeral")
	w.Opt("ttl", c.TTL)
	w.Close('}')
}
