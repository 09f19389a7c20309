package responses

import (
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/media"
	"sluice/internal/kernel/llm"
)

// message writes a message of parts. Text is what its texts are called.
func (w *callWriter) message(m *llm.Message, parts []llm.Part, text string) error {
	w.Open('{')
	w.Str("type", "message")
	w.Str("role", string(m.Role))
	w.Key("content")
	switch {
	case len(parts) == 0:
		w.Text("")
	case len(parts) == 1 && plain(&parts[0]) && parts[0].Index == -1:
		w.Text(parts[0].Text)
	default:
		w.Open('[')
		for i := range parts {
			if err := w.part(m, &parts[i], text); err != nil {
				return err
			}
		}
		w.Close(']')
	}
	w.Close('}')
	if m.Name != "" {
		w.t.Drop(w.c.Path(m, -1) + ".name")
	}
	return nil
}

// plain reports whether a part is only a text.
func plain(p *llm.Part) bool {
	return p.Kind == llm.TextPart && p.Cache == nil && len(p.Citations) == 0
}

func (w *callWriter) part(m *llm.Message, p *llm.Part, text string) error {
	path := w.c.Path(m, p.Index)
	if p.Cache != nil {
		w.t.Drop(path + ".cache_control")
	}
	switch p.Kind {
	case llm.TextPart:
		w.textPart(p, path, text)
	case llm.RefusalPart:
		w.Open('{')
		w.Str("type", "refusal")
		w.Str("refusal", p.Text)
		w.Close('}')
	case llm.ImagePart:
		w.image(p.Media)
	case llm.FilePart:
		w.file(p.Media)
	case llm.AudioPart:
		w.audio(p.Media)
	case llm.OpaquePart:
		if m.Role == llm.RoleTool && p.Shape == shapeName {
			w.Value(p.Raw)
			return nil
		}
		if m.Role != llm.RoleAssistant {
			return fields.Invalid(path, "has a type that responses do not support")
		}
		w.t.Drop(path)
	default:
		w.t.Drop(path)
	}
	return nil
}

func (w *callWriter) textPart(p *llm.Part, path, kind string) {
	w.Open('{')
	w.Str("type", kind)
	w.Str("text", p.Text)
	switch {
	case len(p.Citations) == 0:
	case p.Shape == shapeName:
		w.Raw("annotations", p.Citations)
	default:
		w.t.Drop(path + ".citations")
	}
	w.Close('}')
}

func (w *callWriter) image(m *llm.Media) {
	w.Open('{')
	w.Str("type", "input_image")
	w.Opt("image_url", media.URL(m))
	w.Opt("file_id", m.FileID)
	w.Opt("detail", m.Detail)
	w.Close('}')
}

func (w *callWriter) file(m *llm.Media) {
	w.Open('{')
	if m.Plain {
		w.Str("type", "input_text")
		w.Str("text", m.Data)
		w.Close('}')
		return
	}
	w.Str("type", "input_file")
	w.Opt("filename", media.FileName(m))
	if m.Data != "" {
		w.Str("file_data", media.URL(m))
	}
	w.Opt("file_url", m.URL)
	w.Opt("file_id", m.FileID)
	w.Opt("detail", m.Detail)
	w.Close('}')
}

func (w *callWriter) audio(m *llm.Media) {
	w.Open('{')
	w.Str("type", "input_audio")
	w.Key("input_audio").Open('{')
	w.Str("data", m.Data)
	w.Opt("format", m.Format)
	w.Close('}')
	w.Close('}')
}
