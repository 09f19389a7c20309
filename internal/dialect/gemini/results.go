package gemini

import (
	"strings"

	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/llm"
)

// results writes the results of tool calls. A failed call is under "error", any other
// result under "output". The models expect these names.
// Source: https://ai.google.dev/api/caching#FunctionResponse, read 2026-11.
func (w *contentWriter) results(m *llm.Message) error {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != llm.ResultPart {
			w.t.Drop(w.c.Path(m, p.Index))
			continue
		}
		if p.Result.Name == "" {
			return fields.Invalid(w.c.Path(m, p.Index), "is the result of a tool call that is not in the conversation")
		}
		if err := w.result(m, p); err != nil {
			return err
		}
	}
	return nil
}

func (w *contentWriter) result(m *llm.Message, p *llm.Part) error {
	r := p.Result
	w.dropMarks(m, p)
	text, media := w.gather(m, p)
	key := "output"
	if r.Error {
		key = "error"
	}
	w.begin(ofTools)
	w.Open('{')
	w.Key("functionResponse").Open('{')
	w.Opt("id", r.ID)
	w.Str("name", r.Name)
	w.Key("response").Open('{')
	w.Str(key, text)
	w.Close('}')
	if len(media) > 0 && w.m.levels() {
		w.Key("parts").Open('[')
		for _, e := range media {
			if err := w.enclose(w.c.Path(m, p.Index), e); err != nil {
				return err
			}
		}
		w.Close(']')
		media = nil
	}
	w.Close('}')
	w.Close('}')
	for _, e := range media {
		w.turn.after = append(w.turn.after, pendingMedia{m, e})
	}
	return nil
}

// gather splits a result into its text, one line for each part, and its media.
func (w *contentWriter) gather(m *llm.Message, p *llm.Part) (string, []*llm.Part) {
	var text []string
	var media []*llm.Part
	for i := range p.Result.Parts {
		e, _ := conversation.ResultPart(w.t, w.c, m, p.Index, shapeName, &p.Result.Parts[i])
		switch e.Kind {
		case llm.TextPart, llm.RefusalPart:
			text = append(text, e.Text)
		case llm.ImagePart, llm.FilePart, llm.AudioPart:
			media = append(media, e)
		default:
			w.t.Drop(w.c.Path(m, p.Index))
		}
		if e.Cache != nil {
			w.t.Drop(w.c.Path(m, p.Index) + ".cache_control")
		}
	}
	return strings.Join(text, "\n"), media
}

// enclose writes a medium inside a functionResponse.
// Source: https://ai.google.dev/gemini-api/docs/function-calling#multimodal, read 2026-11.
func (w *contentWriter) enclose(path string, e *llm.Part) error {
	uri := fileURI(e.Media)
	if e.Media.Data == "" && uri == "" {
		return fields.Invalid(path, "contains a file with an id that Gemini does not support; send a URL or base64")
	}
	w.Open('{')
	w.medium(e.Media, uri)
	w.Close('}')
	w.dropMediaNames(path, e)
	return nil
}
