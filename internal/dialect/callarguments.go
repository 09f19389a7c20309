package dialect

import (
	"strings"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// RawArguments is the one member of the arguments of a call whose own are no JSON object:
// {"raw_arguments":"{\"city\": \"Ro"}. A model may be cut off in the middle of them, and some do
// not keep to JSON. A conversation with such a call goes on with providers that want an object,
// and the model sees what it wrote.
const RawArguments = "raw_arguments"

// ArgumentsObject is the arguments of a call as an object that every reader of JSON takes: {} for
// none, the text itself where it is one, else the text under RawArguments, and false.
func ArgumentsObject(text string) (object []byte, ok bool) {
	trimmed := []byte(strings.TrimSpace(text))
	switch {
	case len(trimmed) == 0:
		return []byte("{}"), true
	case splice.Readable(trimmed):
		return splice.AppendRepaired(nil, trimmed), true
	}
	var w JSON
	w.Open('{')
	w.Str(RawArguments, text)
	w.Close('}')
	return w.B, false
}

// ArgumentsText is ArgumentsObject as a text, for providers that want a string and parse it.
// Arguments that are an object stay as they were written.
func ArgumentsText(t *llm.FieldTracker, c *llm.Call, m *llm.Message, p *llm.Part) string {
	text := p.Call.Arguments
	if trimmed := strings.TrimSpace(text); trimmed != "" && splice.Readable([]byte(trimmed)) {
		return text
	}
	object, ok := ArgumentsObject(text)
	if !ok {
		t.Drop(ArgumentsPath(c, m, p))
	}
	return string(object)
}

// ArgumentsPath is where the caller has the arguments of a call: "messages[1].content[0].input",
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
