package gemini

import (
	"strings"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// candidateContent is one part of an answer, as it stands in it.
type candidateContent struct {
	kind      llm.PartKind
	text      []byte // raw, with quotes
	signature []byte // raw, with quotes
	id, name  []byte // of a call, raw
	args      []byte // of a call, raw; nil when there are none
	mime      []byte // of a medium, raw
	data      []byte // of a medium, raw
	uri       []byte // of a medium, raw
	empty     bool   // nothing was said
}

// read takes a part apart.
func (s *candidateContent) read(raw []byte) {
	*s = candidateContent{empty: true}
	reasoning := false
	for name, val := range splice.Members(raw) {
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
	if s.empty && s.signature != nil { // the end of a stream may bring the signature alone
		s.text, s.empty = emptyText, false
	}
}

var emptyText = []byte(`""`)

func (s *candidateContent) call(raw []byte) {
	for name, val := range splice.Members(raw) {
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
	for name, val := range splice.Members(raw) {
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

// arguments are the arguments of a call as JSON text, {} when it has none.
func (s *candidateContent) arguments() string {
	if len(s.args) == 0 || string(s.args) == "null" {
		return "{}"
	}
	return string(s.args)
}

// media is the medium of the part.
func (s *candidateContent) media() *llm.Media {
	m := &llm.Media{MIME: plainText(s.mime), Data: plainText(s.data), URL: plainText(s.uri)}
	if s.kind == llm.AudioPart {
		m.Format = formatOf(m.MIME)
	}
	return m
}

// formatOf is OpenAI's word for a type of audio: the models speak "audio/L16;rate=24000".
func formatOf(mime string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(mime, "audio/"), ";")
	if strings.EqualFold(kind, "l16") || strings.EqualFold(kind, "pcm") {
		return "pcm16"
	}
	return kind
}

// plainText is a raw string without its quotes, "" when it is none.
func plainText(raw []byte) string {
	s, _ := splice.Unquote(raw)
	return s
}
