package gemini

import (
	"strings"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// candidateContent is one part of a response, with its members as raw JSON.
type candidateContent struct {
	kind      llm.PartKind
	text      []byte // raw, with quotes
	signature []byte // raw, with quotes
	id, name  []byte // for a call, raw
	args      []byte // for a call, raw; nil when missing
	mime      []byte // for a media part, raw
	data      []byte // for a media part, raw
	uri       []byte // for a media part, raw
	empty     bool   // the part has no content
}

// read parses a part.
func (s *candidateContent) read(raw []byte) {
	*s = candidateContent{empty: true}
	reasoning := false
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"text"`:
			s.text, s.empty = val, false
		case `"thought"`:
			reasoning = string(val) == "true"
		case `"thoughtSignature"`, `"thought_signature"`:
			s.signature = val
		case `"functionCall"`:
			s.kind, s.empty = llm.CallPart, false
			s.call(val)
		case `"inlineData"`, `"fileData"`:
			s.empty = false
			s.medium(val)
		case `"mediaResolution"`, `"videoMetadata"`, `"partMetadata"`:
		default:
			s.kind, s.empty = llm.OpaquePart, false
		}
	}
	if s.text != nil && s.kind == llm.TextPart && reasoning {
		s.kind = llm.ReasoningPart
	}
	if s.empty && s.signature != nil { // the last part of a stream may contain only the signature
		s.text, s.empty = emptyText, false
	}
}

var emptyText = []byte(`""`)

func (s *candidateContent) call(raw []byte) {
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"id"`:
			s.id = val
		case `"name"`:
			s.name = val
		case `"args"`:
			s.args = val
		}
	}
}

func (s *candidateContent) medium(raw []byte) {
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"mimeType"`:
			s.mime = val
		case `"data"`:
			s.data = val
		case `"fileUri"`:
			s.uri = val
		}
	}
	switch {
	case begins(s.mime, `"image/`):
		s.kind = llm.ImagePart
	case begins(s.mime, `"audio/`):
		s.kind = llm.AudioPart
	default:
		s.kind = llm.FilePart
	}
}

func begins(raw []byte, with string) bool { return strings.HasPrefix(string(raw), with) }

// arguments returns the arguments of a call as JSON, {} when it has none.
func (s *candidateContent) arguments() string {
	if len(s.args) == 0 || string(s.args) == "null" {
		return "{}"
	}
	return string(s.args)
}

// media returns the media content of the part.
func (s *candidateContent) media() *llm.Media {
	m := &llm.Media{MIME: plainText(s.mime), Data: plainText(s.data), URL: plainText(s.uri)}
	if s.kind == llm.AudioPart {
		m.Format = formatOf(m.MIME)
	}
	return m
}

// formatOf returns OpenAI's name for an audio type. The models return "audio/L16;rate=24000".
func formatOf(mime string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(mime, "audio/"), ";")
	if strings.EqualFold(kind, "l16") || strings.EqualFold(kind, "pcm") {
		return "pcm16"
	}
	return kind
}

// plainText returns a raw string without its quotes, "" when raw is not a string.
func plainText(raw []byte) string {
	s, _ := jsonedit.Unquote(raw)
	return s
}
