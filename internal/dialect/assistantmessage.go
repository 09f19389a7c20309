package dialect

import (
	"cmp"
	"strings"

	"sluice/internal/llm"
)

// PartText is what a part says that is nothing but words: a text, a refusal, or a document
// that was sent as it is.
func PartText(p *llm.Part) (text string, ok bool) {
	switch {
	case p.Kind == llm.TextPart || p.Kind == llm.RefusalPart:
		return p.Text, true
	case p.Kind == llm.FilePart && p.Media.Plain:
		return p.Media.Data, true
	}
	return "", false
}

// IsBlank reports whether a text says nothing. Claude and Bedrock refuse such.
func IsBlank(text string) bool { return strings.TrimSpace(text) == "" }

// AssistantMessage is what a message of an assistant comes to for shapes in the manner of chat
// completions, which keep texts and calls apart.
type AssistantMessage struct {
	Reasoning []*llm.Part // of kind ThoughtPart: the shape's business to carry or to lose
	Texts     []string    // refusals among them
	Calls     []*llm.ToolCall
}

// Nothing reports whether there is nothing to send.
func (s *AssistantMessage) Nothing() bool { return len(s.Reasoning)+len(s.Texts)+len(s.Calls) == 0 }

// ReadAssistantMessage takes a message of an assistant apart. Sealed thoughts, those without text, which Claude
// may sign without showing them, marks and the signatures of calls are told to t as lost; what else there may be is refused as by
// RejectUnsupported.
func ReadAssistantMessage(t *llm.FieldTracker, c *llm.Call, m *llm.Message) (s AssistantMessage, err error) {
	for i := range m.Parts {
		p := &m.Parts[i]
		DropCacheControl(t, c, m, p)
		switch {
		case p.Kind == llm.TextPart || p.Kind == llm.RefusalPart:
			s.Texts = append(s.Texts, p.Text)
		case p.Kind == llm.SealedPart, p.Kind == llm.ReasoningPart && p.Text == "":
			t.Drop(c.Path(m, p.Index))
			continue
		case p.Kind == llm.ReasoningPart:
			s.Reasoning = append(s.Reasoning, p)
			continue
		case p.Kind == llm.CallPart && !p.Call.Custom:
			s.Calls = append(s.Calls, readableCall(t, c, m, p))
		default:
			return s, RejectUnsupported(c, m, p)
		}
		if p.Signature != "" {
			t.Drop(c.Path(m, p.Index) + ".signature")
		}
	}
	return s, nil
}

// readableCall is a call with arguments that whoever parses them can read.
func readableCall(t *llm.FieldTracker, c *llm.Call, m *llm.Message, p *llm.Part) *llm.ToolCall {
	text := ArgumentsText(t, c, m, p)
	if text == p.Call.Arguments {
		return p.Call
	}
	call := *p.Call
	call.Arguments = text
	return &call
}

// ReadResult takes the result of a tool call apart for shapes that put it as one text:
// the text, with a word before it that the call failed, and the images, for a message
// behind it.
func ReadResult(t *llm.FieldTracker, c *llm.Call, m *llm.Message, part *llm.Part) (text string, images []llm.Part, err error) {
	DropCacheControl(t, c, m, part)
	var texts []string
	for i := range part.Result.Parts {
		known, _ := ResultPart(t, c, m, part.Index, "", &part.Result.Parts[i])
		p := *known
		p.Index = part.Index
		switch {
		case p.Kind == llm.ImagePart:
			images = append(images, p) // its marks are told of where it goes
			continue
		case p.Kind == llm.TextPart:
			texts = append(texts, p.Text)
		case p.Kind == llm.FilePart && p.Media.Plain:
			texts = append(texts, p.Media.Data)
		default:
			return "", nil, RejectUnsupported(c, m, &p)
		}
		DropCacheControl(t, c, m, &p)
	}
	text = strings.Join(texts, "\n")
	if part.Result.Error {
		text = "Error: " + text
	}
	return text, images, nil
}

// Calls writes tool_calls in the manner of chat completions; no calls are left out.
func (w *JSON) Calls(list []*llm.ToolCall) {
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

// MediaURL is the URL of a medium, a data URL when it is in the call; of no type that is
// known, application/octet-stream, because a data URL without one is plain text.
func MediaURL(m *llm.Media) string {
	if m.Data == "" {
		return m.URL
	}
	return "data:" + cmp.Or(m.MIME, "application/octet-stream") + ";base64," + m.Data
}

// NestedPath is a place in the caller's body, of which chat completions have the inside
// under a name of its own: tools[0].function, response_format.json_schema.
func NestedPath(c *llm.Call, path, name string) string {
	if c.Surface == llm.ChatComplete {
		return path + "." + name
	}
	return path
}
