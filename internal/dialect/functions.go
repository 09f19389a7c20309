package dialect

import (
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// Functions writes the list of tools for shapes that know functions alone: each by write,
// which is told where it stands in the call, "tools[2]". Tools that providers run are told
// to t as lost; without a function no list is written.
func (w *JSON) Functions(t *llm.FieldTracker, c *llm.Call, write func(f *llm.Tool, path string)) {
	open := false
	for i := range c.Tools {
		f := &c.Tools[i]
		path := ElementPath("tools", f.Index)
		if f.Type != llm.Function {
			t.Drop(path)
			continue
		}
		if !open {
			w.Key("tools").Open('[')
			open = true
		}
		write(f, path)
	}
	if open {
		w.Close(']')
	}
}

// ChoiceAmong is the caller's choice among those tools that the target gets, which carried
// tells. The wish for one that it does not get is told to t as lost, as is that for any where it
// gets none: providers refuse a choice without tools.
func ChoiceAmong(t *llm.FieldTracker, c *llm.Call, isSupported func(*llm.Tool) bool) llm.ToolChoice {
	some, found := false, c.Choice.Mode != "tool"
	for i := range c.Tools {
		if tool := &c.Tools[i]; isSupported(tool) {
			some, found = true, found || tool.Name == c.Choice.Name
		}
	}
	if some && found {
		return c.Choice
	}
	switch c.Choice.Mode {
	case "", "auto", "none":
	default:
		t.Drop(c.Choice.From)
	}
	return llm.ToolChoice{}
}

// Arguments is the schema of a function's arguments as OpenAI takes it: an object lists its
// properties, also where it has none. Callers of messages and servers of tools need not.
// Source: https://github.com/langchain-ai/langchain-mcp-adapters/issues/137.
func Arguments(schema []byte) []byte {
	if splice.Text(schema, "type") != "object" {
		return schema
	}
	if _, listed := splice.Find(schema, "properties"); listed {
		return schema
	}
	end := len(schema) - 1
	return append(schema[:end:end], `,"properties":{}}`...)
}

// IsFunction reports whether the caller runs a tool, and says what arguments it takes.
func IsFunction(t *llm.Tool) bool { return t.Type == llm.Function }

// ChoiceOfTools is whether tools shall be called, for shapes in the manner of Cohere's
// that cannot be told which: "NONE", "REQUIRED", or nothing to say. A tool that stands
// alone is the one that is meant; of several the wish for one is told to t as lost.
func ChoiceOfTools(t *llm.FieldTracker, c *llm.Call) string {
	switch choice := ChoiceAmong(t, c, IsFunction); choice.Mode {
	case "", "auto":
	case "none":
		return "NONE"
	case "required":
		return "REQUIRED"
	case "tool":
		if len(c.Tools) > 1 {
			t.Drop(NestedPath(c, c.Choice.From, "function") + ".name")
		}
		return "REQUIRED"
	default:
		t.Drop(c.Choice.From)
	}
	return ""
}
