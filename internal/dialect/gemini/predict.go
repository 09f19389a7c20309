package gemini

import (
	"cmp"
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/embeddings"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/media"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// predictEmbed implements the embeddings endpoint of Vertex AI. It calls predict, or embedContent
// for the models that require it.
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api
// and …/multimodal-embeddings-api, read 2026-11; contract/provider-transforms.md 4.8.
type predictEmbed struct{}

var _ dialect.OpenAIEndpoint = predictEmbed{}

// EncodeRequest writes the inputs as instances. Inputs are texts with a task, or objects with
// text, image and video.
func (predictEmbed) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	embeddings.WantsBase64(t)
	e := embedder{t: t}
	e.task, _ = t.Consume("task_type")
	e.title, _ = t.Consume("title")
	e.size, _ = t.Consume("dimensions")
	e.more, _ = t.Consume("parameters")
	input, ok := t.Consume("input")
	if !ok {
		return nil, fault.New(fault.InvalidParameter, "input is required; send it in the request body").WithParam("input")
	}
	var bodies [][]byte
	var err error
	switch {
	case strings.HasPrefix(to.Model, "gemini-embedding-2"):
		bodies, err = e.each(inputs(input), e.byContent)
	case strings.HasPrefix(to.Model, "gemini-embedding"): // accepts one instance per request
		bodies, err = e.each(inputs(input), e.byInstance)
	default:
		bodies, err = e.together(inputs(input))
	}
	if err != nil {
		return nil, err
	}
	return &dialect.Outgoing{Body: bodies[0], More: bodies[1:], Dropped: t.Dropped()}, nil
}

// inputs returns the elements of a list. A value that is not a list is the only input.
func inputs(raw []byte) (list [][]byte) {
	if raw[0] != '[' {
		return [][]byte{raw}
	}
	for v := range jsonedit.Elements(raw) {
		list = append(list, v)
	}
	return list
}

// embedder writes the request bodies of one call.
type embedder struct {
	t                       *llm.FieldTracker
	task, title, size, more []byte
}

// each writes one body per input.
func (e *embedder) each(list [][]byte, write func(w *jsonwriter.Writer, input []byte, path string) error) ([][]byte, error) {
	var bodies [][]byte
	for i, input := range list {
		var w jsonwriter.Writer
		if err := write(&w, input, fields.ElementPath("input", i)); err != nil {
			return nil, err
		}
		bodies = append(bodies, w.B)
	}
	if len(bodies) == 0 {
		return nil, fields.Invalid("input", "must contain something to embed")
	}
	return bodies, nil
}

// together writes one body for all inputs.
func (e *embedder) together(list [][]byte) ([][]byte, error) {
	if len(list) == 0 {
		return nil, fields.Invalid("input", "must contain something to embed")
	}
	var w jsonwriter.Writer
	media := false
	w.Open('{')
	w.Key("instances").Open('[')
	for i, input := range list {
		if err := e.instance(&w, input, fields.ElementPath("input", i)); err != nil {
			return nil, err
		}
		media = media || input[0] == '{'
	}
	w.Close(']')
	e.parameters(&w, media)
	w.Close('}')
	return [][]byte{w.B}, nil
}

func (e *embedder) byInstance(w *jsonwriter.Writer, input []byte, path string) error {
	w.Open('{')
	w.Key("instances").Open('[')
	if err := e.instance(w, input, path); err != nil {
		return err
	}
	w.Close(']')
	e.parameters(w, false)
	w.Close('}')
	return nil
}

// instance writes a text, or an object with text, image and video.
func (e *embedder) instance(w *jsonwriter.Writer, input []byte, path string) error {
	w.Open('{')
	defer w.Close('}')
	switch input[0] {
	case '"':
		w.Raw("content", input)
		w.Raw("task_type", e.task)
		w.Raw("title", e.title)
		return nil
	case '{':
		return e.object(w, input, path)
	}
	return fields.Invalid(path, "must be a string, or an object with text, image or video: this provider does not support tokens")
}

func (e *embedder) object(w *jsonwriter.Writer, input []byte, path string) error {
	for name, val := range jsonedit.Members(input) {
		switch key := plainText(name); key {
		case "text":
			w.Raw("text", val)
		case "image":
			w.Key("image").Open('{')
			e.source(w, val)
			w.Close('}')
		case "video":
			w.Key("video").Open('{')
			e.source(w, val)
			e.segment(w, val)
			w.Close('}')
		default:
			e.t.Drop(path + "." + key)
		}
	}
	return nil
}

// source writes {"url":"gs://…"} or {"base64":"…"}.
func (e *embedder) source(w *jsonwriter.Writer, raw []byte) {
	if url, ok := jsonedit.Find(raw, "url"); ok {
		w.Raw("gcsUri", url)
	}
	if data, ok := jsonedit.Find(raw, "base64"); ok {
		w.Raw("bytesBase64Encoded", data)
	}
}

// segment writes the part of a video to embed. Offsets and interval are in seconds.
func (e *embedder) segment(w *jsonwriter.Writer, raw []byte) {
	open := false
	for _, f := range [...][2]string{{"start_offset", "startOffsetSec"}, {"end_offset", "endOffsetSec"}, {"interval", "intervalSec"}} {
		val, ok := jsonedit.Find(raw, f[0])
		if !ok {
			continue
		}
		if !open {
			w.Key("videoSegmentConfig").Open('{')
			open = true
		}
		w.Raw(f[1], val)
	}
	if open {
		w.Close('}')
	}
}

// parameters writes the caller's parameters and the vector size.
func (e *embedder) parameters(w *jsonwriter.Writer, media bool) {
	if e.size == nil && e.more == nil {
		return
	}
	w.Key("parameters").Open('{')
	for name, val := range jsonedit.Members(e.more) {
		w.Key(string(name[1 : len(name)-1])).Value(val)
	}
	if media {
		w.Raw("dimension", e.size)
	} else {
		w.Raw("outputDimensionality", e.size)
	}
	w.Close('}')
}

// byContent writes an embedContent request: {"content":{"parts":[…]},"embedContentConfig":{…}}.
func (e *embedder) byContent(w *jsonwriter.Writer, input []byte, path string) error {
	w.Open('{')
	switch input[0] {
	case '"':
		content(w, input)
	case '{':
		if err := e.contentOf(w, input, path); err != nil {
			return err
		}
	default:
		return fields.Invalid(path, "must be a string, or an object with text, image, video or audio: this provider does not support tokens")
	}
	if e.task != nil || e.title != nil || e.size != nil || e.more != nil {
		w.Key("embedContentConfig").Open('{')
		w.Raw("taskType", e.task)
		w.Raw("title", e.title)
		w.Raw("outputDimensionality", e.size)
		for name, val := range jsonedit.Members(e.more) {
			w.Key(string(name[1 : len(name)-1])).Value(val)
		}
		w.Close('}')
	}
	w.Close('}')
	return nil
}

// contentOf writes the parts of {"text":"x","image":{"url":"gs://b/a.png"}}.
func (e *embedder) contentOf(w *jsonwriter.Writer, input []byte, path string) error {
	w.Key("content").Open('{')
	w.Key("parts").Open('[')
	for name, val := range jsonedit.Members(input) {
		switch key := plainText(name); key {
		case "text":
			w.Open('{')
			w.Raw("text", val)
			w.Close('}')
		case "image", "video", "audio":
			if err := embedMedium(w, key, val, path+"."+key); err != nil {
				return err
			}
		default:
			e.t.Drop(path + "." + key)
		}
	}
	w.Close(']')
	w.Close('}')
	return nil
}

// embedTypes are the default MIME types of media without a known type.
var embedTypes = map[string]string{"image": "image/png", "video": "video/mp4", "audio": "audio/mp3"}

func embedMedium(w *jsonwriter.Writer, kind string, raw []byte, path string) error {
	mimeType, _ := jsonedit.Find(raw, "mime_type")
	url, byURL := jsonedit.Find(raw, "url")
	data, inline := jsonedit.Find(raw, "base64")
	uri := plainText(url)
	mime := cmp.Or(cmp.Or(plainText(mimeType), media.MIMEOf(uri)), embedTypes[kind])
	w.Open('{')
	switch {
	case byURL:
		w.Key("fileData").Open('{')
		w.Str("mimeType", mime)
		w.Str("fileUri", uri)
	case inline:
		w.Key("inlineData").Open('{')
		w.Str("mimeType", mime)
		w.Raw("data", data)
	default:
		return fields.Invalid(path, "must have url or base64")
	}
	w.Close('}')
	w.Close('}')
	return nil
}
