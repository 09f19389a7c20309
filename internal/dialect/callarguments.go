package dialect

import (
	"strings"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// RawArguments is the only member of replacement arguments for a call whose arguments are not a JSON
// object: {"raw_arguments":"{\"city\": \"Ro"}. A model may be cut off inside them, and some do not
// write valid JSON. With the replacement, a conversation can continue at providers that require an
// object, and the model sees the text that it wrote.
const RawArguments = "raw_arguments"

// ArgumentsObject converts the arguments of a call to an object that every JSON parser accepts. It
// is {} for an empty text, and the text itself if that is an object. Otherwise it is the text under
// RawArguments, and ok is false.
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

// ArgumentsText is ArgumentsObject as a string, for providers that parse a string. Arguments that
// are an object remain unchanged.
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
