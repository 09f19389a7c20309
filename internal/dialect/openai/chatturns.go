package openai

import (
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/media"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/llm"
)

// messages writes the conversation. Content outside the caller's list of messages becomes the
// first message.
func (w *callWriter) messages() error {
	w.Key("messages").Open('[')
	if err := w.aside.Flush(w.c.Messages, w.message, w.writeDeferred); err != nil {
		return err
	}
	w.Close(']')
	return nil
}

func (w *callWriter) message(m *llm.Message) error {
	switch m.Role {
	case llm.RoleAssistant:
		if !nothingBut(m.Parts, llm.ReasoningPart, llm.SealedPart) {
			w.assistant(m)
		} else {
			w.dropMessage(m)
		}
	case llm.RoleTool:
		w.results(m)
	default:
		return w.turn(m, m.Parts)
	}
	return nil
}

// writeDeferred writes a user message with the content that tool results cannot contain.
func (w *callWriter) writeDeferred(m *llm.Message, media []llm.Part) error {
	after := *m
	after.Role = llm.RoleUser
	return w.turn(&after, media)
}

// nothingBut reports whether parts is not empty and contains only parts of the kinds a and b.
func nothingBut(parts []llm.Part, a, b llm.PartKind) bool {
	for i := range parts {
		if k := parts[i].Kind; k != a && k != b {
			return false
		}
	}
	return len(parts) > 0
}

func (w *callWriter) dropMessage(m *llm.Message) {
	for i := range m.Parts {
		w.t.Drop(w.c.Path(m, m.Parts[i].Index))
	}
}

// turn writes a user or system message. If plainText permits, the content is a plain string,
// because every provider supports strings.
func (w *callWriter) turn(m *llm.Message, parts []llm.Part) error {
	w.Open('{')
	w.Str("role", string(m.Role))
	w.speaker(m)
	w.Key("content")
	if text, ok := plainText(parts, m.Role != llm.RoleUser); ok {
		w.Text(text)
		w.dropMarks(m, parts)
	} else {
		w.Open('[')
		for i := range parts {
			if err := w.part(m, &parts[i]); err != nil {
				return err
			}
		}
		w.Close(']')
	}
	w.Close('}')
	return nil
}

// plainText returns the text of parts, and false if a part is not text. join permits several
// parts, which are joined with line feeds; without it they return false.
func plainText(parts []llm.Part, join bool) (string, bool) {
	texts := make([]string, len(parts))
	for i := range parts {
		if parts[i].Kind != llm.TextPart || i > 0 && !join {
			return "", false
		}
		texts[i] = parts[i].Text
	}
	return strings.Join(texts, "\n"), true
}

func (w *callWriter) dropMarks(m *llm.Message, parts []llm.Part) {
	for i := range parts {
		p := &parts[i]
		if p.Cache != nil {
			w.t.Drop(w.c.Path(m, p.Index) + ".cache_control")
		}
		if len(p.Citations) > 0 && p.Shape != shapeName {
			w.t.Drop(w.c.Path(m, p.Index) + ".citations")
		}
	}
}

// assistant writes an earlier message of the model. Few providers have a field for reasoning, and
// fewer have one for signatures.
func (w *callWriter) assistant(m *llm.Message) {
	w.Open('{')
	w.Str("role", "assistant")
	w.speaker(m)
	var text, reasoning, refusal strings.Builder
	hasText, refuses := false, !w.rules.Rejects("messages[*].refusal")
	var calls []*llm.Part
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Kind == llm.TextPart, p.Kind == llm.RefusalPart && !refuses:
			text.WriteString(p.Text)
			hasText = true
		case p.Kind == llm.RefusalPart:
			refusal.WriteString(p.Text)
		case p.Kind == llm.ReasoningPart, p.Kind == llm.SealedPart:
			w.addReasoning(m, p, &reasoning)
		case p.Kind == llm.CallPart:
			calls = append(calls, p)
			if p.Signature != "" {
				w.t.Drop(w.c.Path(m, p.Index) + ".signature")
			}
		default:
			w.t.Drop(w.c.Path(m, p.Index))
		}
	}
	w.dropMarks(m, m.Parts)
	switch w.reasoningField {
	case dialect.ReasoningInSeparateField:
		w.Opt("reasoning_content", reasoning.String())
	case dialect.ReasoningInDetails:
		w.details(m)
	}
	switch {
	case w.reasoningField == dialect.ReasoningInContent && reasoning.Len() > 0:
		w.Raw("content", contentList(m.Parts))
	case hasText:
		w.Str("content", text.String())
	case len(calls) > 0 || refusal.Len() > 0:
		w.Raw("content", []byte("null"))
	default:
		w.Str("content", "")
	}
	w.Opt("refusal", refusal.String())
	w.calls(m, calls)
	w.Close('}')
}

// speaker writes the name of the message's author, unless the provider rejects it.
func (w *callWriter) speaker(m *llm.Message) {
	switch {
	case m.Name == "":
	case w.rules.Rejects("messages[*].name"):
		w.t.Drop(w.c.Path(m, -1) + ".name")
	default:
		w.Str("name", m.Name)
	}
}

func (w *callWriter) calls(m *llm.Message, calls []*llm.Part) {
	if len(calls) == 0 {
		return
	}
	w.Key("tool_calls").Open('[')
	for _, p := range calls {
		w.Open('{')
		w.Str("id", p.Call.ID)
		kind, args := llm.Function, "arguments"
		var text string
		if p.Call.Custom {
			kind, args, text = llm.Custom, "input", p.Call.Arguments
		} else { // servers parse these arguments
			text = toolcalls.ArgumentsText(w.t, w.c, m, p)
		}
		w.Str("type", kind)
		w.Key(kind).Open('{')
		w.Str("name", p.Call.Name)
		w.Str(args, text)
		w.Close('}')
		w.Close('}')
	}
	w.Close(']')
}

// results writes each tool result as a message. Images, files and audio, which a chat result
// cannot contain, follow in a user message.
func (w *callWriter) results(m *llm.Message) {
	var media []llm.Part
	for i := range m.Parts {
		r := m.Parts[i].Result
		var text strings.Builder
		if r.Error {
			text.WriteString("Error: ")
		}
		for k := range r.Parts {
			p, _ := conversation.ResultPart(w.t, w.c, m, m.Parts[i].Index, "", &r.Parts[k])
			switch p.Kind {
			case llm.TextPart:
				if k > 0 && inText(r.Parts[k-1].Kind) {
					text.WriteByte('\n')
				}
				text.WriteString(p.Text)
			case llm.ImagePart, llm.FilePart, llm.AudioPart:
				media = append(media, *p)
			default:
				w.t.Drop(w.c.Path(m, m.Parts[i].Index))
			}
		}
		w.Open('{')
		w.Str("role", "tool")
		w.Str("tool_call_id", r.ID)
		w.Str("content", text.String())
		w.Close('}')
		w.dropMarks(m, m.Parts[i:i+1])
	}
	w.aside.Add(m, media)
}

// inText reports whether parts of this kind are written into the text of a result.
func inText(k llm.PartKind) bool { return k == llm.TextPart || k == llm.OpaquePart }

// part writes one part of a message's content.
func (w *callWriter) part(m *llm.Message, p *llm.Part) error {
	path := w.c.Path(m, p.Index)
	if p.Cache != nil {
		w.t.Drop(path + ".cache_control")
	}
	switch p.Kind {
	case llm.TextPart:
		w.Open('{')
		w.Str("type", "text")
		w.Str("text", p.Text)
		w.Close('}')
	case llm.ImagePart:
		if media.URL(p.Media) == "" {
			return fields.Invalid(path, "references an image by file id, which chat completions do not support; send it as a URL or as base64")
		}
		w.image(p.Media)
	case llm.AudioPart:
		w.Open('{')
		w.Str("type", "input_audio")
		w.Key("input_audio").Open('{')
		w.Str("data", p.Media.Data)
		w.Opt("format", p.Media.Format)
		w.Close('}')
		w.Close('}')
	case llm.FilePart:
		w.file(p.Media)
	case llm.OpaquePart:
		if p.Shape != shapeName {
			return fields.Invalid(path, "has a type that chat completions do not support")
		}
		w.Value(p.Raw)
	default:
		w.t.Drop(path)
	}
	return nil
}

func (w *callWriter) image(m *llm.Media) {
	w.Open('{')
	w.Str("type", "image_url")
	w.Key("image_url").Open('{')
	w.Str("url", media.URL(m))
	w.Opt("detail", m.Detail)
	w.Close('}')
	w.Close('}')
}

func (w *callWriter) file(m *llm.Media) {
	w.Open('{')
	if m.Plain {
		w.Str("type", "text")
		w.Str("text", m.Data)
		w.Close('}')
		return
	}
	w.Str("type", "file")
	w.Key("file").Open('{')
	if m.Data != "" {
		w.Str("file_data", media.URL(m))
	}
	w.Opt("file_url", m.URL)
	w.Opt("file_id", m.FileID)
	w.Opt("filename", media.FileName(m))
	w.Opt("mime_type", m.MIME)
	w.Close('}')
	w.Close('}')
}
