package cohere

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

// turn writes a message of a user or of the system: one text as a plain string.
func (w *writer) turn(m *llm.Message, role string, parts []llm.Part) error {
	w.Open('{')
	w.Str("role", role)
	w.Key("content")
	if len(parts) == 1 && parts[0].Kind == llm.TextPart {
		w.Text(parts[0].Text)
		w.Close('}')
		dialect.LoseMarks(w.t, w.c, m, &parts[0])
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

// part writes one part of what a user or the system says. Only users have images.
func (w *writer) part(m *llm.Message, role string, p *llm.Part) error {
	dialect.LoseMarks(w.t, w.c, m, p)
	switch {
	case p.Kind == llm.TextPart || p.Kind == llm.RefusalPart:
		w.block("text", p.Text)
	case p.Kind == llm.FilePart && p.Media.Plain:
		w.block("text", p.Media.Data)
	case p.Kind == llm.ImagePart && role == "user" && p.Media.FileID == "":
		w.image(p.Media)
	default:
		return dialect.CannotCarry(w.c, m, p)
	}
	return nil
}

// block writes {"type":"text","text":…} or its like.
func (w *writer) block(kind, text string) {
	w.Open('{')
	w.Str("type", kind)
	w.Str(kind, text)
	w.Close('}')
}

func (w *writer) image(m *llm.Media) {
	url := m.URL
	if m.Data != "" {
		url = "data:" + m.MIME + ";base64," + m.Data
	}
	w.Open('{')
	w.Str("type", "image_url")
	w.Key("image_url").Open('{')
	w.Str("url", url)
	w.Opt("detail", m.Detail)
	w.Close('}')
	w.Close('}')
}

// said is an assistant's message taken apart.
type said struct {
	thoughts []string
	texts    []string
	calls    []*llm.ToolCall
}

func (s *said) nothing() bool { return len(s.thoughts)+len(s.texts)+len(s.calls) == 0 }

func (w *writer) gather(m *llm.Message) (s said, err error) {
	for i := range m.Parts {
		p := &m.Parts[i]
		at := w.c.Path(m, p.Index)
		dialect.LoseMarks(w.t, w.c, m, p)
		switch {
		case p.Kind == llm.TextPart || p.Kind == llm.RefusalPart:
			s.texts = append(s.texts, p.Text)
		case p.Kind == llm.ThoughtPart:
			s.thoughts = append(s.thoughts, p.Text)
		case p.Kind == llm.SealedPart:
			w.t.Lose(at)
			continue
		case p.Kind == llm.CallPart && !p.Call.Custom:
			s.calls = append(s.calls, p.Call)
		default:
			return s, dialect.CannotCarry(w.c, m, p)
		}
		if p.Signature != "" {
			w.t.Lose(at + ".signature")
		}
	}
	return s, nil
}

// assistant writes what the model said before. What it says beside its calls is its
// plan.
func (w *writer) assistant(m *llm.Message) error {
	s, err := w.gather(m)
	if err != nil || s.nothing() && len(m.Parts) > 0 { // all of it is lost, and said to be
		return err
	}
	w.Open('{')
	w.Str("role", "assistant")
	if len(s.calls) > 0 {
		w.Opt("tool_plan", strings.Join(s.texts, "\n"))
		s.texts = nil
	}
	switch {
	case len(s.thoughts) == 0 && len(s.texts) == 1:
		w.Str("content", s.texts[0])
	case len(s.thoughts)+len(s.texts) > 0:
		w.Key("content").Open('[')
		for _, text := range s.thoughts {
			w.block("thinking", text)
		}
		for _, text := range s.texts {
			w.block("text", text)
		}
		w.Close(']')
	case len(s.calls) == 0:
		w.Str("content", "")
	}
	w.calls(s.calls)
	w.Close('}')
	return nil
}

func (w *writer) calls(list []*llm.ToolCall) {
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
		if c.Arguments == "" {
			w.Str("arguments", "{}")
		} else {
			w.Str("arguments", c.Arguments)
		}
		w.Close('}')
		w.Close('}')
	}
	w.Close(']')
}

// results writes what tool calls came to, a message each. Images, which a result
// cannot hold, follow in a message of the user.
func (w *writer) results(m *llm.Message) error {
	var images []llm.Part
	for i := range m.Parts {
		more, err := w.result(m, &m.Parts[i])
		if err != nil {
			return err
		}
		images = append(images, more...)
	}
	if len(images) == 0 {
		return nil
	}
	return w.turn(m, "user", images)
}

func (w *writer) result(m *llm.Message, part *llm.Part) (images []llm.Part, err error) {
	dialect.LoseMarks(w.t, w.c, m, part)
	r := part.Result
	var texts []string
	for i := range r.Parts {
		p := r.Parts[i]
		p.Index = part.Index
		switch {
		case p.Kind == llm.TextPart:
			texts = append(texts, p.Text)
			dialect.LoseMarks(w.t, w.c, m, &p)
		case p.Kind == llm.FilePart && p.Media.Plain:
			texts = append(texts, p.Media.Data)
			dialect.LoseMarks(w.t, w.c, m, &p)
		case p.Kind == llm.ImagePart:
			images = append(images, p)
		default:
			return nil, dialect.CannotCarry(w.c, m, &p)
		}
	}
	text := strings.Join(texts, "\n")
	if r.Error {
		text = "Error: " + text
	}
	w.Open('{')
	w.Str("role", "tool")
	w.Str("tool_call_id", r.ID)
	w.Str("content", text)
	w.Close('}')
	return images, nil
}
