package workersai

import (
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/llm"
)

// messages writes the conversation.
func (w *writer) messages() error {
	w.Key("messages").Open('[')
	for i := range w.c.Messages {
		m := &w.c.Messages[i]
		if m.Name != "" {
			w.t.Lose(w.c.Path(m, -1) + ".name")
		}
		var err error
		switch m.Role {
		case llm.RoleAssistant:
			err = w.assistant(m)
		case llm.RoleTool:
			err = w.results(m)
		case llm.RoleUser:
			err = w.turn(m, "user", m.Parts)
		default:
			err = w.turn(m, "system", m.Parts)
		}
		if err != nil {
			return err
		}
	}
	w.Close(']')
	return nil
}

// turn writes what a user or the system says: texts as one, because most models take no
// lists, and a list where there are images.
func (w *writer) turn(m *llm.Message, role string, parts []llm.Part) error {
	var texts []string
	images := 0
	for i := range parts {
		p := &parts[i]
		dialect.LoseMarks(w.t, w.c, m, p)
		switch {
		case p.Kind == llm.TextPart || p.Kind == llm.RefusalPart:
			texts = append(texts, p.Text)
		case p.Kind == llm.FilePart && p.Media.Plain:
			texts = append(texts, p.Media.Data)
		case p.Kind == llm.ImagePart && role == "user" && p.Media.FileID == "":
			images++
		default:
			return dialect.CannotCarry(w.c, m, p)
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
			w.Str("url", dialect.MediaURL(p.Media))
			w.Opt("detail", p.Media.Detail)
			w.Close('}')
		case llm.FilePart:
			w.Str("type", "text")
			w.Str("text", p.Media.Data)
		default:
			w.Str("type", "text")
			w.Str("text", p.Text)
		}
		w.Close('}')
	}
	w.Close(']')
}

// assistant writes what the model said before. Thoughts have no place.
func (w *writer) assistant(m *llm.Message) error {
	s, err := dialect.ReadSaid(w.t, w.c, m)
	if err != nil {
		return err
	}
	for _, p := range s.Thoughts {
		w.t.Lose(w.c.Path(m, p.Index))
	}
	if len(s.Texts)+len(s.Calls) == 0 && len(m.Parts) > 0 {
		return nil // all of it is lost, and said to be
	}
	w.Open('{')
	w.Str("role", "assistant")
	w.Str("content", strings.Join(s.Texts, "\n"))
	w.Calls(s.Calls)
	w.Close('}')
	return nil
}

// results writes what tool calls came to, a message each. Images, which a result cannot
// hold, follow in a message of the user.
func (w *writer) results(m *llm.Message) error {
	var images []llm.Part
	for i := range m.Parts {
		text, more, err := dialect.ReadResult(w.t, w.c, m, &m.Parts[i])
		if err != nil {
			return err
		}
		images = append(images, more...)
		r := m.Parts[i].Result
		w.Open('{')
		w.Str("role", "tool")
		w.Str("tool_call_id", r.ID)
		w.Opt("name", r.Name)
		w.Str("content", text)
		w.Close('}')
	}
	if len(images) == 0 {
		return nil
	}
	return w.turn(m, "user", images)
}
