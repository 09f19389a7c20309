package gemini

import (
	"cmp"
	"strings"

	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/media"
	"sluice/internal/dialect/signatures"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// part writes one part of a message into the content of the given role.
func (w *contentWriter) part(role string, m *llm.Message, p *llm.Part) error {
	path := w.c.Path(m, p.Index)
	w.dropMarks(m, p)
	switch p.Kind {
	case llm.TextPart, llm.RefusalPart:
		signature := cmp.Or(p.Signature, p.EmbeddedSignature)
		if p.Text == "" && signature == "" {
			return nil // Gemini refuses it, and it has no content
		}
		w.begin(role)
		w.text(p.Text, signature, false)
	case llm.ReasoningPart:
		w.reasoning(role, m, p)
	case llm.ImagePart, llm.AudioPart, llm.FilePart:
		return w.media(role, path, p)
	case llm.OpaquePart:
		switch {
		case p.Shape == shapeName:
		case role == roleUser: // the medium that the prompt is about
			return fields.Invalid(path, "has a type that Gemini does not support")
		default:
			w.t.Drop(path)
			return nil
		}
		w.begin(role)
		w.Value(p.Raw)
	case llm.SealedPart, llm.CallPart, llm.ResultPart:
		w.t.Drop(path) // reasoning that another provider encrypted, and unsupported parts
	}
	return nil
}

// reasoning writes a reasoning part, with its signature if Gemini signed it. A part with
// neither text nor such a signature is omitted.
func (w *contentWriter) reasoning(role string, m *llm.Message, p *llm.Part) {
	signature := p.Signature
	foreign := signature != "" && !signatures.Knows(shapeName, p)
	if foreign {
		signature = ""
	}
	switch {
	case p.Text == "" && signature == "":
		w.t.Drop(w.c.Path(m, p.Index))
		return
	case foreign:
		w.t.Drop(signatures.Path(w.c, m, p))
	}
	w.begin(role)
	w.text(p.Text, signature, true)
}

// dropMarks reports the marks that Gemini does not support. Gemini caches automatically,
// or caches what cachedContent names.
func (w *contentWriter) dropMarks(m *llm.Message, p *llm.Part) {
	if p.Cache != nil {
		w.t.Drop(w.c.Path(m, p.Index) + ".cache_control")
	}
	if len(p.Citations) > 0 {
		w.t.Drop(w.c.Path(m, p.Index) + ".citations")
	}
}

func (w *contentWriter) text(text, signature string, reasoning bool) {
	w.Open('{')
	w.Str("text", text)
	if reasoning {
		w.Bool("thought", true)
	}
	w.Opt("thoughtSignature", signature)
	w.Close('}')
}

// media writes an image, a recording or a document.
func (w *contentWriter) media(role, path string, p *llm.Part) error {
	uri := fileURI(p.Media)
	if p.Media.Data == "" && uri == "" {
		return fields.Invalid(path, "references a file by an id that Gemini does not support; send a URL, base64, or the URI that the Files API returned")
	}
	w.begin(role)
	w.Open('{')
	w.medium(p.Media, uri)
	if raw, ok := w.t.TakeFrom(p.Extra, "media_resolution"); ok {
		w.resolution(raw)
	}
	if raw, ok := w.t.TakeFrom(p.Extra, "video_metadata"); ok {
		w.Raw("videoMetadata", raw)
	}
	w.Close('}')
	w.dropMediaNames(path, p)
	return nil
}

// medium writes inlineData or fileData.
func (w *contentWriter) medium(m *llm.Media, uri string) {
	if m.Data == "" {
		w.Key("fileData").Open('{')
		w.Opt("mimeType", cmp.Or(m.MIME, media.MIMEOf(uri)))
		w.Str("fileUri", uri)
		w.Close('}')
		return
	}
	data := m.Data
	if m.Plain {
		data = media.Base64([]byte(data))
	}
	w.Key("inlineData").Open('{')
	w.Str("mimeType", cmp.Or(m.MIME, mimeOf(m)))
	w.Str("data", data)
	w.Close('}')
}

// resolution writes the resolution at which a medium is read: a level, or the object that
// contains it.
// Source: https://ai.google.dev/gemini-api/docs/media-resolution, read 2026-11.
func (w *contentWriter) resolution(raw []byte) {
	if len(raw) > 0 && raw[0] == '"' {
		w.Key("mediaResolution").Open('{')
		w.Raw("level", raw)
		w.Close('}')
		return
	}
	w.Raw("mediaResolution", raw)
}

// dropMediaNames reports the fields of a medium that Gemini does not support.
func (w *contentWriter) dropMediaNames(path string, p *llm.Part) {
	prefix := path
	if w.c.Surface == llm.ChatComplete {
		prefix += map[llm.PartKind]string{llm.ImagePart: ".image_url", llm.FilePart: ".file"}[p.Kind]
	}
	if d := p.Media.Detail; d != "" && d != "auto" {
		w.t.Drop(prefix + ".detail")
	}
	if p.Media.Name != "" {
		w.t.Drop(prefix + ".filename")
	}
}

// fileURI returns the address of a medium that is not inline: a URL, or an id of the
// Files API, which is also a URL.
func fileURI(m *llm.Media) string {
	switch {
	case m.URL != "":
		return m.URL
	case strings.Contains(m.FileID, "://"):
		return m.FileID
	case strings.HasPrefix(m.FileID, "files/"):
		return filesBase + m.FileID
	}
	return ""
}

// filesBase is the prefix of a file's name, "files/abc-123", in its URI.
// Source: https://ai.google.dev/api/files, read 2026-11.
const filesBase = "https://generativelanguage.googleapis.com/v1beta/"

// mimeOf returns the type of a medium of which only the format or the name is known.
func mimeOf(m *llm.Media) string {
	if mime := audioMIME[m.Format]; mime != "" {
		return mime
	}
	switch {
	case m.Format != "":
		return "audio/" + m.Format
	case m.Plain:
		return "text/plain"
	}
	return cmp.Or(media.MIMEOf(m.Name), "image/jpeg")
}

// audioMIME are the types of OpenAI's input_audio formats.
// Source: contract/provider-transforms.md 1.5.
var audioMIME = map[string]string{
	"mp3": "audio/mp3", "wav": "audio/wav", "opus": "audio/ogg", "flac": "audio/flac", "pcm16": "audio/pcm", "x-aac": "audio/aac",
	"x-m4a": "audio/m4a", "mpeg": "audio/mpeg", "mpga": "audio/mpga", "mp4": "audio/mp4", "webm": "audio/webm",
}

// freeText writes the text for a tool without a schema as arguments.
func freeText(text string) string { return `{"input":` + string(jsonedit.Quote(text)) + `}` }
