package workersai

import (
	"strings"

	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/media"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/llm"
)

// messages writes the conversation.
func (w *writer) messages() error {
	list := conversation.Messages{W: &w.Writer, T: w.t, C: w.c, Turn: w.turn, Assistant: w.assistant, Named: true}
	return list.Write()
}

// turn writes a user or system message. It joins texts into one, because most models do not
// accept lists, and writes a list if there are images.
func (w *writer) turn(m *llm.Message, role string, parts []llm.Part) error {
	var texts []string
	images := 0
	for i := range parts {
		p := &parts[i]
		conversation.DropCacheControl(w.t, w.c, m, p)
		text, isText := conversation.PartText(p)
		switch {
		case isText:
			texts = append(texts, text)
		case p.Kind == llm.ImagePart && role == "user" && p.Media.FileID == "":
			images++
		default:
			return conversation.RejectUnsupported(w.c, m, p)
		}
	}
	w.Open('{')
	w.Str("role", role)
	if images == 0 {
		w.Str("content", strings.Join(texts, "\n"))
	} else {
		w.list(parts)
	}
	w.Close('}')
	return nil
}

func (w *writer) list(parts []llm.Part) {
	w.Key("content").Open('[')
	for i := range parts {
		p := &parts[i]
		w.Open('{')
		switch p.Kind {
		case llm.ImagePart:
			w.Str("type", "image_url")
			w.Key("image_url").Open('{')
			w.Str("url", media.URL(p.Media))
			w.Opt("detail", p.Media.Detail)
			w.Close('}')
		default:
			text, _ := conversation.PartText(p)
			w.Str("type", "text")
			w.Str("text", text)
		}
		w.Close('}')
	}
	w.Close(']')
}

// assistant writes an earlier message of the model. Reasoning is not supported.
func (w *writer) assistant(m *llm.Message) error {
	s, err := conversation.ReadAssistantMessage(w.t, w.c, m)
	if err != nil {
		return err
	}
	for _, p := range s.Reasoning {
		w.t.Drop(w.c.Path(m, p.Index))
	}
	if len(s.Texts)+len(s.Calls) == 0 && len(m.Parts) > 0 {
		return nil // all of it is dropped and reported
	}
	w.Open('{')
	w.Str("role", "assistant")
	w.Str("content", strings.Join(s.Texts, "\n"))
	toolcalls.WriteCalls(&w.Writer, s.Calls)
	w.Close('}')
	return nil
}
