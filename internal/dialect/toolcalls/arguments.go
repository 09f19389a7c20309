package toolcalls

import (
	"cmp"
	"strings"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// ArgumentsText is jsonwriter.ArgumentsObject as a string, for providers that parse a string. Arguments that
// are an object remain unchanged.
func ArgumentsText(t *llm.FieldTracker, c *llm.Call, m *llm.Message, p *llm.Part) string {
	text := p.Call.Arguments
	if trimmed := strings.TrimSpace(text); trimmed != "" && jsonedit.Readable([]byte(trimmed)) {
		return text
	}
	object, ok := jsonwriter.ArgumentsObject(text)
	if !ok {
		t.Drop(ArgumentsPath(c, m, p))
	}
	return string(object)
}

// ArgumentsPath is the path of a call's arguments in the caller's body: "messages[1].content[0].input",
// "input[2].arguments", "messages[1].tool_calls".
func ArgumentsPath(c *llm.Call, m *llm.Message, p *llm.Part) string {
	switch c.Surface {
	case llm.Messages:
		return c.Path(m, p.Index) + ".input"
	case llm.CreateModelResponse:
		return c.Path(m, p.Index) + ".arguments"
	default:
		return c.Path(m, -1) + ".tool_calls"
	}
}

// WriteCalls writes tool_calls in the format of chat completions. It omits an empty list.
func WriteCalls(w *jsonwriter.Writer, list []*llm.ToolCall) {
	if len(list) == 0 {
		return
	}
	w.Key("tool_calls").Open('[')
	for _, c := range list {
		w.Open('{')
		w.Str("id", c.ID)
		w.Str("type", llm.Function)
		w.Key("function").Open('{')
		w.Str("name", c.Name)
		w.Str("arguments", cmp.Or(c.Arguments, "{}"))
		w.Close('}')
		w.Close('}')
	}
	w.Close(']')
}
