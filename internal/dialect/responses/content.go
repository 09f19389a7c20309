package responses

import (
	"cmp"

	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/media"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

func readPart(raw []byte, path string) (llm.Part, error) {
	if text, ok := jsonedit.Unquote(raw); ok { // some clients send bare strings
		return llm.Part{Kind: llm.TextPart, Text: text}, nil
	}
	if raw[0] != '{' {
		return llm.Part{}, fields.Invalid(path, "must be an object")
	}
	r := partReader{p: llm.Part{Media: &llm.Media{}}, path: path}
	var err error
	switch kind := jsonedit.Text(raw, "type"); kind {
	case "input_text", "output_text", "text", "refusal", "output_audio":
		err = r.text(raw, kind)
	case "input_image":
		err = r.image(raw)
	case "input_file":
		err = r.file(raw)
	case "input_audio":
		err = r.audio(raw)
	case "":
		err = fields.Invalid(path+".type", "is required")
	default:
		err = fields.Invalid(path+".type", "is "+string(jsonedit.Quote(kind))+", which requires a provider with native responses support")
	}
	return r.p, err
}

// readResultPart is readPart for the output of a call. Parts of an unknown type stay
// unchanged: a provider of another shape gets their text.
func readResultPart(raw []byte, path string) (llm.Part, error) {
	if len(raw) > 0 && raw[0] == '{' {
		if kind := jsonedit.Text(raw, "type"); kind != "" && !knownParts[kind] {
			return llm.Part{Kind: llm.OpaquePart, Raw: raw, Shape: shapeName}, nil
		}
	}
	return readPart(raw, path)
}

// knownParts lists the types of parts that readPart reads.
var knownParts = map[string]bool{
	"input_text": true, "output_text": true, "text": true, "refusal": true, "output_audio": true,
	"input_image": true, "input_file": true, "input_audio": true,
}

// partReader fills a Part from the members of one.
type partReader struct {
	p    llm.Part
	path string
}

// other takes the members that all parts may have, and notes the rest.
func (r *partReader) other(name string, val []byte) {
	switch {
	case jsonedit.IsNull(val), name == "type":
	case name == "cache_control":
		r.p.Cache = fields.ReadCache(val)
	default:
		r.p.Extra = extra(r.p.Extra, name, r.path, val)
	}
}

func (r *partReader) text(raw []byte, kind string) error {
	r.p.Kind, r.p.Media = llm.TextPart, nil
	from := "text"
	switch kind {
	case "refusal":
		r.p.Kind, from = llm.RefusalPart, kind
	case "output_audio": // models hear what they said in words
		from = "transcript"
	}
	found := false
	for name, val := range jsonedit.Members(raw) {
		switch n := plainName(name); n {
		case from:
			r.p.Text, found = jsonedit.Unquote(val)
		case "logprobs", "data": // of an earlier answer, given back: they say nothing to a model
		case "annotations":
			if val[0] == '[' && string(val) != "[]" {
				r.p.Citations, r.p.Shape = val, shapeName
			}
		default:
			r.other(n, val)
		}
	}
	if !found {
		return fields.Invalid(r.path+"."+from, "must be a string")
	}
	return nil
}

func (r *partReader) image(raw []byte) error {
	r.p.Kind = llm.ImagePart
	m := r.p.Media
	url := ""
	for name, val := range jsonedit.Members(raw) {
		switch n := plainName(name); n {
		case "image_url":
			if url, _ = jsonedit.Unquote(val); val[0] == '{' { // as chat writes it
				url = jsonedit.Text(val, "url")
				m.Detail = cmp.Or(m.Detail, jsonedit.Text(val, "detail"))
			}
		case "file_id":
			m.FileID, _ = jsonedit.Unquote(val)
		case "detail":
			m.Detail, _ = jsonedit.Unquote(val)
		default:
			r.other(n, val)
		}
	}
	if url == "" && m.FileID == "" {
		return fields.Invalid(r.path+".image_url", "is required")
	}
	return r.locate(url, r.path+".image_url")
}

// locate sets the location of a medium: inside a data URL, or at a URL.
func (r *partReader) locate(url, path string) error {
	m := r.p.Media
	mime, data, inside, err := media.DataURL(url)
	switch {
	case err != nil:
		return fault.From(err).WithParam(path)
	case inside:
		m.MIME, m.Data = cmp.Or(mime, m.MIME), data
	case url != "":
		if err := media.CheckURL(url); err != nil {
			return fault.From(err).WithParam(path)
		}
		m.URL = url
	}
	if m.MIME == "" {
		m.MIME = cmp.Or(media.MIMEOf(m.Name), media.MIMEOf(m.URL))
	}
	return nil
}

func (r *partReader) file(raw []byte) error {
	r.p.Kind = llm.FilePart
	m := r.p.Media
	data, url := "", ""
	for name, val := range jsonedit.Members(raw) {
		text, _ := jsonedit.Unquote(val)
		switch n := plainName(name); n {
		case "file_data":
			data = text
		case "file_url":
			url = text
		case "file_id":
			m.FileID = text
		case "filename":
			m.Name = text
		case "detail":
			m.Detail = text
		case "mime_type":
			m.MIME = text
		default:
			r.other(n, val)
		}
	}
	switch path := r.path + ".file_data"; {
	case data == "" && url == "" && m.FileID == "":
		return fields.Invalid(r.path, "must have file_data, file_id or file_url")
	case data == "":
		return r.locate(url, r.path+".file_url")
	default:
		if mime, inner, inside, err := media.DataURL(data); err != nil {
			return fault.From(err).WithParam(path)
		} else if inside {
			m.MIME, data = cmp.Or(mime, m.MIME), inner
		} else if err := media.CheckBase64(data); err != nil {
			return fault.From(err).WithParam(path)
		}
		m.Data, m.MIME = data, cmp.Or(m.MIME, media.MIMEOf(m.Name))
		return nil
	}
}

func (r *partReader) audio(raw []byte) error {
	r.p.Kind = llm.AudioPart
	for name, val := range jsonedit.Members(raw) {
		if plainName(name) != "input_audio" {
			r.other(plainName(name), val)
			continue
		}
		r.p.Media.Data, r.p.Media.Format = jsonedit.Text(val, "data"), jsonedit.Text(val, "format")
	}
	path := r.path + ".input_audio.data"
	if r.p.Media.Data == "" {
		return fields.Invalid(path, "is required")
	}
	if err := media.CheckBase64(r.p.Media.Data); err != nil {
		return fault.From(err).WithParam(path)
	}
	return nil
}
