package toolcalls

import (
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// WriteFunctions writes the list of tools for shapes that support only functions. It calls write for
// each function with its path in the call, "tools[2]". It reports tools that providers run to t
// as dropped. Without a function it writes no list.
func WriteFunctions(w *jsonwriter.Writer, t *llm.FieldTracker, c *llm.Call, write func(f *llm.Tool, path string)) {
	open := false
	for i := range c.Tools {
		f := &c.Tools[i]
		path := fields.ElementPath("tools", f.Index)
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

// ChoiceAmong is the caller's tool choice, limited to the tools that the target receives, for which
// isSupported is true. A choice of another tool is reported to t as dropped. So is a forced
// choice if the target receives no tool: providers reject a choice without tools.
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

// Arguments is the schema of a function's arguments in the form that OpenAI requires: an object
// lists its properties even if it has none. Callers of messages and tool servers may omit it.
// Source: https://github.com/langchain-ai/langchain-mcp-adapters/issues/137.
func Arguments(schema []byte) []byte {
	if jsonedit.Text(schema, "type") != "object" {
		return schema
	}
	if _, listed := jsonedit.Find(schema, "properties"); listed {
		return schema
	}
	end := len(schema) - 1
	return append(schema[:end:end], `,"properties":{}}`...)
}

// IsFunction reports whether the caller runs a tool and defines its arguments.
func IsFunction(t *llm.Tool) bool { return t.Type == llm.Function }

// ChoiceOfTools is the tool choice for shapes like Cohere's, which cannot name a tool: "NONE",
// "REQUIRED", or "" for no choice. If the call has only one tool, "REQUIRED" selects it. If it
// has several, the choice of one is reported to t as dropped.
func ChoiceOfTools(t *llm.FieldTracker, c *llm.Call) string {
	switch choice := ChoiceAmong(t, c, IsFunction); choice.Mode {
	case "", "auto":
	case "none":
		return "NONE"
	case "required":
		return "REQUIRED"
	case "tool":
		if len(c.Tools) > 1 {
			t.Drop(fields.NestedPath(c, c.Choice.From, "function") + ".name")
		}
		return "REQUIRED"
	default:
		t.Drop(c.Choice.From)
	}
	return ""
}
