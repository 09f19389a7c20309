package oracle

import (
	"strings"

	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

var roles = map[llm.Role]string{llm.RoleSystem: "SYSTEM", llm.RoleDeveloper: "SYSTEM", llm.RoleUser: "USER", llm.RoleAssistant: "ASSISTANT"}

// messages writes the conversation.
func (w *writer) messages() error {
	w.Key("messages").Open('[')
	for i := range w.c.Messages {
		m := &w.c.Messages[i]
		switch {
		case m.Role == llm.RoleTool:
			if err := w.results(m); err != nil {
				return err
			}
			continue
		case w.silent(m):
			continue
		}
		w.Open('{')
		w.Str("role", roles[m.Role])
		w.Opt("name", m.Name)
		if err := w.writeContent(m); err != nil {
			return err
		}
		w.Close('}')
	}
	w.Close(']')
	return nil
}

// silent reports whether a message is empty without its reasoning, which the service does
// not accept.
func (w *writer) silent(m *llm.Message) bool {
	for i := range m.Parts {
		if k := m.Parts[i].Kind; k != llm.ReasoningPart && k != llm.SealedPart {
			return false
		}
	}
	for i := range m.Parts {
		w.t.Drop(w.c.Path(m, m.Parts[i].Index))
	}
	return len(m.Parts) > 0
}

// writeContent writes the parts of a message: contents in a list, refusal and calls next to it.
func (w *writer) writeContent(m *llm.Message) error {
	refusal := ""
	var calls []*llm.Part
	open := false
	for i := range m.Parts {
		p := &m.Parts[i]
		w.marks(m, p)
		switch p.Kind {
		case llm.RefusalPart:
			refusal += p.Text
		case llm.CallPart:
			calls = append(calls, p)
		case llm.ReasoningPart, llm.SealedPart:
			w.t.Drop(w.c.Path(m, p.Index))
		default:
			if !open {
				w.Key("content").Open('[')
				open = true
			}
			if err := w.content(m, p); err != nil {
				return err
			}
		}
	}
	if open {
		w.Close(']')
	}
	w.Opt("refusal", refusal)
	w.calls(m, calls)
	return nil
}

// marks reports the marks of a part, which the service does not support.
func (w *writer) marks(m *llm.Message, p *llm.Part) {
	conversation.DropCacheControl(w.t, w.c, m, p)
	if p.Signature != "" && p.Kind == llm.CallPart {
		w.t.Drop(w.c.Path(m, p.Index) + ".signature")
	}
}

func (w *writer) calls(m *llm.Message, calls []*llm.Part) {
	if len(calls) == 0 {
		return
	}
	w.Key("toolCalls").Open('[')
	for _, p := range calls {
		w.Open('{')
		w.Str("id", p.Call.ID)
		w.Str("type", "FUNCTION")
		w.Str("name", p.Call.Name)
		w.Str("arguments", toolcalls.ArgumentsText(w.t, w.c, m, p))
		w.Close('}')
	}
	w.Close(']')
}

// results writes each result of a tool call as a message.
func (w *writer) results(m *llm.Message) error {
	for i := range m.Parts {
		r := m.Parts[i].Result
		w.marks(m, &m.Parts[i])
		w.Open('{')
		w.Str("role", "TOOL")
		w.Str("toolCallId", r.ID)
		w.Key("content").Open('[')
		parts := r.Parts
		if r.Error { // the service has no field for it; models understand the prefix
			parts = failed(parts)
		}
		for k := range parts {
			p, _ := conversation.ResultPart(w.t, w.c, m, m.Parts[i].Index, "", &parts[k])
			w.marks(m, p)
			if err := w.content(m, p); err != nil {
				return err
			}
		}
		w.Close(']')
		w.Close('}')
	}
	return nil
}

// failed puts "Error: " before the first text of a result.
// Source: contract/provider-transforms.md 9.1.
func failed(parts []llm.Part) []llm.Part {
	if len(parts) == 0 || parts[0].Kind != llm.TextPart {
		return append([]llm.Part{{Kind: llm.TextPart, Text: "Error: "}}, parts...)
	}
	out := append([]llm.Part(nil), parts...)
	out[0].Text = "Error: " + out[0].Text
	return out
}

// content writes one content of a list.
func (w *writer) content(m *llm.Message, p *llm.Part) error {
	path := w.c.Path(m, p.Index)
	switch p.Kind {
	case llm.TextPart:
		w.text(p.Text)
		return nil
	case llm.ImagePart:
		return w.media(p.Media, "IMAGE", "imageUrl", path)
	case llm.AudioPart:
		return w.media(p.Media, "AUDIO", "audioUrl", path)
	case llm.FilePart:
		switch {
		case p.Media.Plain:
			w.text(p.Media.Data)
			return nil
		case strings.HasPrefix(p.Media.MIME, "video/"):
			return w.media(p.Media, "VIDEO", "videoUrl", path)
		}
		return w.media(p.Media, "DOCUMENT", "documentUrl", path)
	default:
		return conversation.RejectUnsupported(w.c, m, p)
	}
}

func (w *writer) text(s string) {
	w.Open('{')
	w.Str("type", "TEXT")
	w.Str("text", s)
	w.Close('}')
}

// media writes a medium by its URL, or by a data URL when it is inline.
func (w *writer) media(m *llm.Media, kind, name, path string) error {
	url := m.URL
	if m.Data != "" {
		url = "data:" + mime(m) + ";base64," + m.Data
	}
	if url == "" {
		return fault.Newf(fault.InvalidParameter, "%s references a file by id, which Oracle chat does not support; send it as a URL or as base64", path).WithParam(path)
	}
	w.Open('{')
	w.Str("type", kind)
	w.Key(name).Open('{')
	w.Str("url", url)
	w.Opt("detail", strings.ToUpper(m.Detail))
	w.Close('}')
	w.Close('}')
	return nil
}

func mime(m *llm.Media) string {
	switch {
	case m.MIME != "":
		return m.MIME
	case m.Format != "":
		return "audio/" + m.Format
	}
	return "application/octet-stream"
}
