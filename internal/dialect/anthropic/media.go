package anthropic

import (
	"encoding/base64"
	"strings"

	"sluice/internal/dialect/conversation"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

const pdf = "application/pdf"

// media writes an image or a document.
// Source: contract/provider-transforms.md 2.2.
func (w *contentWriter) media(m *llm.Message, p *llm.Part) error {
	md := p.Media
	kind, _, _ := strings.Cut(md.MIME, "/")
	typ := "document"
	switch {
	case kind == "video" || kind == "audio":
		return conversation.RejectUnsupported(w.c, m, p)
	case p.Kind == llm.ImagePart && md.MIME != pdf, kind == "image":
		typ = "image"
	}
	w.open(typ)
	if p.Shape == shapeName {
		w.Raw("source", p.Raw)
	} else {
		w.Key("source").Open('{')
		if err := w.source(md, typ); err != nil {
			return fault.From(err).WithParam(w.c.Path(m, p.Index))
		}
		w.Close('}')
	}
	if typ == "document" {
		w.document(p)
	}
	if md.Detail != "" && md.Detail != "auto" {
		w.t.Drop(detailPath(w.c, m, p))
	}
	w.shut(p)
	return nil
}

func detailPath(c *llm.Call, m *llm.Message, p *llm.Part) string {
	if c.Surface == llm.ChatComplete {
		return c.Path(m, p.Index) + ".image_url.detail"
	}
	return c.Path(m, p.Index) + ".detail"
}

// documentExtras lists the additional members of a document that Anthropic supports.
var documentExtras = [...]string{"title", "context", "citations"}

// document writes the additional members of a document. Its name is the default title.
func (w *contentWriter) document(p *llm.Part) {
	title := false
	for _, name := range documentExtras {
		if raw, ok := w.t.TakeFrom(p.Extra, name); ok {
			w.Raw(name, raw)
			title = title || name == "title"
		}
	}
	if !title {
		w.Opt("title", p.Media.Name)
	}
}

// source writes the location or the content of a media part.
func (w *contentWriter) source(md *llm.Media, typ string) error {
	switch {
	case md.FileID != "":
		w.Str("type", "file")
		w.Str("file_id", md.FileID)
		w.betas = append(w.betas, filesBeta)
	case md.Data == "" && !md.Plain:
		w.Str("type", "url")
		w.Str("url", md.URL)
	case md.Plain || md.MIME == "text/plain":
		text, err := plainText(md)
		if err != nil {
			return err
		}
		w.Str("type", "text")
		w.Str("media_type", "text/plain")
		w.Str("data", text)
	default:
		w.Str("type", "base64")
		w.Str("media_type", mediaType(md.MIME, typ))
		w.Str("data", md.Data)
	}
	return nil
}

func mediaType(mime, typ string) string {
	if mime == "" && typ == "document" {
		return pdf
	}
	return mime
}

// plainText returns the content of a text document, which Anthropic requires without base64.
func plainText(md *llm.Media) (string, error) {
	if md.Plain {
		return md.Data, nil
	}
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(md.Data, "="))
	if err != nil {
		return "", fault.New(fault.InvalidParameter, "the document must be base64")
	}
	return string(b), nil
}
