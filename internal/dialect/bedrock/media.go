package bedrock

import (
	"cmp"
	"context"
	"net/url"
	"path"
	"strconv"
	"strings"

	"sluice/internal/dialect/media"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// documents maps MIME types to document formats. Their subtypes are not format names.
// Source: contract/provider-transforms.md 1.5, 3.3;
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html, read 2026-11.
var documents = map[string]string{
	"application/pdf": "pdf", "text/csv": "csv", "application/msword": "doc", "text/html": "html", "text/plain": "txt", "text/markdown": "md",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx", "application/vnd.ms-excel": "xls",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
}

// formats maps MIME subtypes to formats where the two differ.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_VideoBlock.html and
// API_runtime_AudioBlock.html, read 2026-11.
var formats = map[string]string{
	"jpg": "jpeg", "quicktime": "mov", "x-matroska": "mkv", "x-flv": "flv", "x-ms-wmv": "wmv", "3gpp": "three_gp", "three_gpp": "three_gp",
	"x-m4a": "m4a", "x-wav": "wav", "pcm16": "pcm",
}

// source is the content or the location of a media part.
type source struct {
	mime, data string // base64
	uri        string // s3://bucket/key, instead of data
}

// media writes an image, a video or a document.
func (w *contentWriter) media(ctx context.Context, m *llm.Message, p *llm.Part, t *turnState) error {
	fieldPath := w.c.Path(m, p.Index)
	s, err := w.find(ctx, p.Media, fieldPath)
	if err != nil {
		return err
	}
	if p.Media.Detail != "" && p.Media.Detail != "auto" {
		w.t.Drop(fieldPath + ".image_url.detail")
	}
	if s.mime == "" && p.Kind == llm.FilePart {
		s.mime = "application/pdf"
	}
	kind, sub, _ := strings.Cut(s.mime, "/")
	switch kind {
	case "image", "video":
		w.Open('{')
		w.Key(kind).Open('{')
		w.Str("format", format(sub))
		w.source(&s, p)
		w.Close('}')
		w.Close('}')
		return nil
	case "":
		return w.refuse(fieldPath, "requires mime_type, because the file type cannot be detected")
	}
	if documents[s.mime] == "" {
		return w.refuse(fieldPath, "has the type "+strconv.Quote(s.mime)+", which this provider does not accept as image, video or document")
	}
	w.document(p, &s, t)
	return nil
}

func format(sub string) string {
	if f, ok := formats[sub]; ok {
		return f
	}
	return sub
}

// document writes a document, with the additional members for Claude.
func (w *contentWriter) document(p *llm.Part, s *source, t *turnState) {
	title, _ := w.t.TakeFrom(p.Extra, "title")
	name := w.name(cmp.Or(plain(title), p.Media.Name))
	if t.document == "" {
		t.document = name
	}
	w.Open('{')
	w.Key("document").Open('{')
	w.Str("format", documents[s.mime])
	w.Str("name", name)
	w.source(s, p)
	for _, key := range [...]string{"context", "citations"} {
		if raw, ok := w.t.TakeFrom(p.Extra, key); ok {
			w.Raw(key, raw)
		}
	}
	w.Close('}')
	w.Close('}')
}

// source writes the content or the location of a media part.
func (w *contentWriter) source(s *source, p *llm.Part) {
	w.Key("source").Open('{')
	if s.uri == "" {
		w.Str("bytes", s.data)
		w.Close('}')
		return
	}
	w.Key("s3Location").Open('{')
	w.Str("uri", s.uri)
	for _, key := range [...]string{"bucketOwner", "bucket_owner"} {
		if raw, ok := w.t.TakeFrom(p.Extra, key); ok {
			w.Raw("bucketOwner", raw)
			break
		}
	}
	w.Close('}')
	w.Close('}')
}

// find returns a media part from the call, from its location in S3, or from its URL. The gateway
// fetches URLs because Bedrock does not. The ids of files that the gateway returned for Bedrock are
// escaped S3 locations.
func (w *contentWriter) find(ctx context.Context, m *llm.Media, fieldPath string) (source, error) {
	s := source{mime: m.MIME}
	location := m.URL
	if m.FileID != "" {
		location, _ = url.PathUnescape(m.FileID)
	}
	switch {
	case m.Plain:
		s.mime, s.data = cmp.Or(m.MIME, "text/plain"), media.Base64([]byte(m.Data))
	case m.Data != "":
		s.data = m.Data + strings.Repeat("=", -len(m.Data)&3) // Amazon requires the padding
	case strings.HasPrefix(location, "s3://"):
		s.uri = location
		s.mime = cmp.Or(s.mime, media.MIMEOf(location))
	case m.FileID != "":
		return s, w.refuse(fieldPath, "references a file outside S3, which this provider cannot read")
	case strings.HasPrefix(location, "http://"), strings.HasPrefix(location, "https://"):
		return w.fetch(ctx, m, fieldPath)
	default:
		return s, w.refuse(fieldPath, "must have an http, https or s3 URL")
	}
	return s, nil
}

func (w *contentWriter) fetch(ctx context.Context, m *llm.Media, fieldPath string) (source, error) {
	if w.to.Fetch == nil {
		return source{}, w.refuse(fieldPath, "references a URL, which this provider does not fetch; send the bytes or an s3:// URL")
	}
	mime, data, err := w.to.Fetch(ctx, m.URL)
	if err != nil {
		return source{}, fault.From(err).WithParam(fieldPath)
	}
	mime, _, _ = strings.Cut(mime, ";")
	if mime = strings.TrimSpace(mime); mime == "application/octet-stream" || mime == "binary/octet-stream" {
		mime = ""
	}
	return source{mime: cmp.Or(cmp.Or(m.MIME, mime), media.MIMEOf(m.URL)), data: media.Base64(data)}, nil
}

// audio writes an audio part. It drops the model's own earlier audio, because Bedrock cannot use
// the id that refers to it.
func (w *contentWriter) audio(m *llm.Message, p *llm.Part) error {
	fieldPath := w.c.Path(m, p.Index)
	if p.Media == nil || p.Media.Data == "" && m.Role == llm.RoleAssistant {
		w.t.Drop(fieldPath)
		return nil
	}
	_, sub, _ := strings.Cut(p.Media.MIME, "/")
	if sub = cmp.Or(p.Media.Format, sub); sub == "" {
		return w.refuse(fieldPath, "requires a format, for example wav")
	}
	w.Open('{')
	w.Key("audio").Open('{')
	w.Str("format", format(sub))
	w.source(&source{data: p.Media.Data}, p)
	w.Close('}')
	w.Close('}')
	return nil
}

// maxNameBytes is the maximum length of a document name.
const maxNameBytes = 200

// name derives a document name from the caller's. Bedrock accepts letters, digits, single spaces,
// hyphens, parentheses and brackets, and requires unique names. A random name would change the prompt
// with each call, and a cache could not match it.
func (w *contentWriter) name(fileName string) string {
	fileName = strings.TrimSuffix(fileName, path.Ext(fileName))
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("-()[]", r):
			return r
		}
		return ' '
	}, fileName)
	clean = strings.Join(strings.Fields(clean), " ")
	clean = strings.TrimSpace(clean[:min(len(clean), maxNameBytes-8)])
	base := cmp.Or(clean, "document")
	if w.names == nil {
		w.names = map[string]int{}
	}
	name := base
	for w.names[name] > 0 {
		w.names[base]++
		name = base + " (" + strconv.Itoa(w.names[base]) + ")"
	}
	w.names[name] = 1
	return name
}
