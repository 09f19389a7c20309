package cohere

import (
	"strings"

	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/media"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/llm"
)

// messages writes the conversation.
func (w *writer) messages() error {
	list := conversation.Messages{W: &w.Writer, T: w.t, C: w.c, Turn: w.turn, Assistant: w.assistant}
	return list.Write()
}

// turn writes a user or system message. A single text becomes a plain string.
func (w *writer) turn(m *llm.Message, role string, parts []llm.Part) error {
	w.Open('{')
	w.Str("role", role)
	w.Key("content")
	if len(parts) == 1 && parts[0].Kind == llm.TextPart {
		w.Text(parts[0].Text)
		w.Close('}')
		conversation.DropCacheControl(w.t, w.c, m, &parts[0])
		return nil
	}
	w.Open('[')
	for i := range parts {
		if err := w.part(m, role, &parts[i]); err != nil {
			return err
		}
	}
	w.Close(']')
	w.Close('}')
	return nil
}

// part writes one part of a user or system message. Only user messages can contain images.
func (w *writer) part(m *llm.Message, role string, p *llm.Part) error {
	conversation.DropCacheControl(w.t, w.c, m, p)
	text, isText := conversation.PartText(p)
	switch {
	case isText:
		w.block("text", text)
	case p.Kind == llm.ImagePart && role == "user" && p.Media.FileID == "":
		w.image(p.Media)
	default:
		return conversation.RejectUnsupported(w.c, m, p)
	}
	return nil
}

// block writes {"type":"text","text":…}, or a block of another kind in the same form.
func (w *writer) block(kind, text string) {
	w.Open('{')
	w.Str("type", kind)
	w.Str(kind, text)
	w.Close('}')
}

func (w *writer) image(m *llm.Media) {
	w.Open('{')
	w.Str("type", "image_url")
	w.Key("image_url").Open('{')
	w.Str("url", media.URL(m))
	w.Opt("detail", m.Detail)
	w.Close('}')
	w.Close('}')
}

// assistant writes an assistant message. Its text becomes the tool plan if the message contains calls.
func (w *writer) assistant(m *llm.Message) error {
	s, err := conversation.ReadAssistantMessage(w.t, w.c, m)
	if err != nil || s.Nothing() && len(m.Parts) > 0 { // nothing remains, and all parts are reported as dropped
		return err
	}
	w.Open('{')
	w.Str("role", "assistant")
	if len(s.Calls) > 0 {
		w.Opt("tool_plan", strings.Join(s.Texts, "\n"))
		s.Texts = nil
	}
	switch {
	case len(s.Reasoning) == 0 && len(s.Texts) == 1:
		w.Str("content", s.Texts[0])
	case len(s.Reasoning)+len(s.Texts) > 0:
		w.content(m, &s)
	case len(s.Calls) == 0:
		w.Str("content", "")
	}
	toolcalls.WriteCalls(&w.Writer, s.Calls)
	w.Close('}')
	return nil
}

// content writes reasoning and texts. It drops signatures, because Cohere does not sign reasoning.
func (w *writer) content(m *llm.Message, s *conversation.AssistantMessage) {
	w.Key("content").Open('[')
	for _, p := range s.Reasoning {
		w.block("thinking", p.Text)
		if p.Signature != "" {
			w.t.Drop(w.c.Path(m, p.Index) + ".signature")
		}
	}
	for _, text := range s.Texts {
		w.block("text", text)
	}
	w.Close(']')
}
