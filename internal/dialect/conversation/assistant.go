package conversation

import (
	"strings"

	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/llm"
)

// PartText is the text of a part that contains only text: a text, a refusal, or a plain-text
// document.
func PartText(p *llm.Part) (text string, ok bool) {
	switch {
	case p.Kind == llm.TextPart || p.Kind == llm.RefusalPart:
		return p.Text, true
	case p.Kind == llm.FilePart && p.Media.Plain:
		return p.Media.Data, true
	}
	return "", false
}

// IsBlank reports whether a text is empty or white space. Claude and Bedrock reject such texts.
func IsBlank(text string) bool { return strings.TrimSpace(text) == "" }

// AssistantMessage is the content of an assistant message for shapes similar to chat completions,
// which separate texts and calls.
type AssistantMessage struct {
	Reasoning []*llm.Part // of kind ReasoningPart: the shape encodes or drops it
	Texts     []string    // including refusals
	Calls     []*llm.ToolCall
}

// Nothing reports whether there is nothing to send.
func (s *AssistantMessage) Nothing() bool { return len(s.Reasoning)+len(s.Texts)+len(s.Calls) == 0 }

// ReadAssistantMessage splits an assistant message into its parts. It reports to t as dropped: sealed
// reasoning, reasoning without text (Claude may sign it without showing it), cache marks and the
// signatures of calls. It rejects any other part as RejectUnsupported does.
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

// readableCall is a call whose arguments are valid JSON for a provider that parses them.
func readableCall(t *llm.FieldTracker, c *llm.Call, m *llm.Message, p *llm.Part) *llm.ToolCall {
	text := toolcalls.ArgumentsText(t, c, m, p)
	if text == p.Call.Arguments {
		return p.Call
	}
	call := *p.Call
	call.Arguments = text
	return &call
}

// ReadResult converts the result of a tool call for shapes that encode it as one text. It returns
// the text, with a prefix if the call failed, and the images, for a message after it.
func ReadResult(t *llm.FieldTracker, c *llm.Call, m *llm.Message, part *llm.Part) (text string, images []llm.Part, err error) {
	DropCacheControl(t, c, m, part)
	var texts []string
	for i := range part.Result.Parts {
		known, _ := ResultPart(t, c, m, part.Index, "", &part.Result.Parts[i])
		p := *known
		p.Index = part.Index
		switch {
		case p.Kind == llm.ImagePart:
			images = append(images, p) // its marks are reported when it is written
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
