package anthropic

import (
	"strings"

	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/media"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// mediaBlock reads an image or a document. The title of a document becomes its name.
func mediaBlock(p *llm.Part, raw []byte, path, typ string) error {
	p.Media = &llm.Media{}
	kind := llm.ImagePart
	if typ == "document" {
		kind = llm.FilePart
	}
	var source []byte
	err := fill(p, raw, path, kind, func(name string, val []byte) (bool, error) {
		switch name {
		case "source":
			source = val
		case "title":
			p.Media.Name, _ = jsonedit.Unquote(val)
		default:
			return false, nil
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	path += ".source"
	switch jsonedit.Text(source, "type") {
	case "base64":
		return inlined(p.Media, source, path)
	case "text":
		p.Media.MIME, p.Media.Plain = "text/plain", true
		val, _ := jsonedit.Find(source, "data")
		p.Media.Data, err = fields.String(val, path+".data")
	case "url":
		p.Media.URL, err = fields.String(found(source, "url"), path+".url")
		if err == nil {
			err = fetchable(p.Media.URL, path+".url")
		}
		if p.Media.MIME = media.MIMEOf(p.Media.URL); p.Media.MIME == "" && kind == llm.FilePart {
			p.Media.MIME = pdf
		}
	case "file":
		p.Media.FileID, err = fields.String(found(source, "file_id"), path+".file_id")
	case "content":
		err = chunks(p, raw, source, path)
	default:
		err = fields.Invalid(path+".type", `must be "base64", "url", "file", "text" or "content"`)
	}
	return err
}

func fetchable(url, path string) error {
	if err := media.CheckURL(url); err != nil {
		return fault.From(err).WithParam(path)
	}
	return nil
}

func found(raw []byte, name string) []byte {
	val, _ := jsonedit.Find(raw, name)
	return val
}

func inlined(m *llm.Media, source []byte, path string) error {
	m.MIME, m.Data = jsonedit.Text(source, "media_type"), jsonedit.Text(source, "data")
	switch {
	case m.MIME == "":
		return fields.Invalid(path+".media_type", "is required")
	case m.Data == "":
		return fields.Invalid(path+".data", "is required")
	}
	if err := media.CheckBase64(m.Data); err != nil {
		return fault.From(err).WithParam(path + ".data")
	}
	return nil
}

// chunks reads a document that is split into blocks so that each can be cited. Other providers
// get the text only. A document with other blocks than text remains unchanged.
func chunks(p *llm.Part, raw, source []byte, path string) error {
	content := found(source, "content")
	unquoted, ok := jsonedit.Unquote(content)
	if !ok && !isList(content) {
		return fields.Invalid(path+".content", "must be a string or a list of blocks")
	}
	var text strings.Builder
	text.WriteString(unquoted)
	for val := range jsonedit.Elements(content) {
		if jsonedit.Text(val, "type") != "text" {
			*p = llm.Part{Kind: llm.OpaquePart, Raw: raw, Shape: shapeName}
			return nil
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(jsonedit.Text(val, "text"))
	}
	p.Media.MIME, p.Media.Plain, p.Media.Data = "text/plain", true, text.String()
	p.Raw, p.Shape = source, shapeName
	return nil
}
