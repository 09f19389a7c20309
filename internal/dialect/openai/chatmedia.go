package openai

import (
	"cmp"
	"strings"

	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/media"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

func imagePart(p *llm.Part, raw []byte, path string) error {
	p.Kind, p.Media = llm.ImagePart, &llm.Media{}
	inner, _ := jsonedit.Find(raw, "image_url")
	path += ".image_url"
	url, bare := jsonedit.Unquote(inner)
	if !bare {
		for name, val := range jsonedit.Members(inner) {
			switch n := plainName(name); n {
			case "url":
				url, _ = jsonedit.Unquote(val)
			case "detail":
				p.Media.Detail, _ = jsonedit.Unquote(val)
			case "mime_type":
				p.Media.MIME, _ = jsonedit.Unquote(val)
			default:
				p.Extra = append(p.Extra, llm.Param{Name: n, From: path + "." + n, Raw: val})
			}
		}
	}
	if url == "" {
		return fields.Invalid(path+".url", "is required")
	}
	if err := locate(p.Media, url, path+".url"); err != nil {
		return err
	}
	if kind, _, _ := strings.Cut(p.Media.MIME, "/"); kind != "image" && p.Media.MIME != "" {
		p.Kind = llm.FilePart // documents and videos are sent as image_url too
	}
	return nil
}

// pictures reads the images that a model generated. OpenRouter and others return them next to
// the text:
// [{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO…"}}].
// Source: https://openrouter.ai/docs/features/multimodal/image-generation, read 2026-11.
func pictures(list []byte) []llm.Part {
	var parts []llm.Part
	for val := range jsonedit.Elements(list) {
		var p llm.Part
		if imagePart(&p, val, "") == nil {
			parts = append(parts, p)
		}
	}
	return parts
}

// locate sets the location of a medium: inside a data URL, or at a URL.
func locate(m *llm.Media, url, path string) error {
	mime, data, inside, err := media.DataURL(url)
	switch {
	case err != nil:
		return fault.From(err).WithParam(path)
	case !inside:
		if err := media.CheckURL(url); err != nil {
			return fault.From(err).WithParam(path)
		}
		m.URL = url
		if m.MIME == "" {
			m.MIME = media.MIMEOf(url)
		}
	default:
		m.MIME, m.Data = mime, data
	}
	return nil
}

func audioPart(p *llm.Part, raw []byte, path string) error {
	inner, _ := jsonedit.Find(raw, "input_audio")
	p.Kind, p.Media = llm.AudioPart, &llm.Media{Data: jsonedit.Text(inner, "data"), Format: jsonedit.Text(inner, "format")}
	if p.Media.Data == "" {
		return fields.Invalid(path+".input_audio.data", "is required")
	}
	if err := media.CheckBase64(p.Media.Data); err != nil {
		return fault.From(err).WithParam(path + ".input_audio.data")
	}
	return nil
}

func filePart(p *llm.Part, raw []byte, path string) error {
	p.Kind, p.Media = llm.FilePart, &llm.Media{}
	inner, _ := jsonedit.Find(raw, "file")
	path += ".file"
	m := p.Media
	for name, val := range jsonedit.Members(inner) {
		text, _ := jsonedit.Unquote(val)
		switch n := plainName(name); n {
		case "file_id":
			m.FileID = text
		case "file_url":
			m.URL = text
		case "file_data":
			m.Data = text
		case "filename", "file_name":
			m.Name = text
		case "mime_type":
			m.MIME = text
		default:
			p.Extra = append(p.Extra, llm.Param{Name: n, From: path + "." + n, Raw: val})
		}
	}
	return checkDocument(m, path)
}

func checkDocument(m *llm.Media, path string) error {
	switch {
	case m.Data != "":
		mime, data, inside, err := media.DataURL(m.Data)
		if inside {
			m.MIME, m.Data = cmp.Or(mime, m.MIME), data
		} else {
			err = media.CheckBase64(m.Data)
		}
		switch {
		case err != nil && !inside && m.MIME == "text/plain":
			m.Plain = true // a text may be sent unchanged
		case err != nil:
			return fault.From(err).WithParam(path + ".file_data")
		}
	case m.URL == "" && m.FileID == "":
		return fields.Invalid(path, "must have file_data, file_id or file_url")
	case m.URL != "":
		if err := media.CheckURL(m.URL); err != nil {
			return fault.From(err).WithParam(path + ".file_url")
		}
	}
	if m.MIME == "" {
		m.MIME = cmp.Or(media.MIMEOf(m.Name), media.MIMEOf(m.URL))
	}
	return nil
}
