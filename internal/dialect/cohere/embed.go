package cohere

import (
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/embeddings"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// embed implements /v2/embed.
// Source: https://docs.cohere.com/reference/embed, read 2026-11; contract/provider-transforms.md 6.4.
type embed struct{}

var _ dialect.OpenAIEndpoint = embed{}

// EncodeRequest builds a request to /v2/embed. Cohere requires the purpose of the vectors. Without
// input_type from the caller it is "image" for images only, and "search_document" otherwise.
func (embed) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	items, err := embeddings.ReadItems(t)
	if err != nil {
		return nil, err
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("model", to.Model)
	purpose, err := writeInputs(&w, items)
	if err != nil {
		return nil, err
	}
	if raw, ok := t.Consume("input_type"); ok {
		w.Raw("input_type", raw)
	} else {
		w.Str("input_type", purpose)
	}
	w.List("embedding_types", vectorType(t))
	if raw, ok := t.First("output_dimension", "dimensions"); ok {
		w.Raw("output_dimension", raw)
	}
	fields.WriteParams(&w, t, []fields.Rename{{Path: "truncate", To: "truncate"}, {Path: "max_tokens", To: "max_tokens"}, {Path: "priority", To: "priority"}})
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// vectorType returns the vector type to request: OpenAI's format can contain only one.
func vectorType(t *llm.FieldTracker) []byte {
	format, ok := t.Consume("encoding_format")
	types, some := t.Consume("embedding_types")
	if some && (len(types) == 0 || types[0] != '[') {
		return types
	}
	n := 0
	for val := range jsonedit.Elements(types) {
		if n++; n == 1 {
			format, ok = val, true
		} else {
			t.Drop(fields.ElementPath("embedding_types", n-1))
		}
	}
	if !ok {
		return []byte(`"float"`)
	}
	return format
}

// writeInputs writes texts or images under Cohere's name for a list of them, or a mixture as inputs.
// It returns the default purpose.
func writeInputs(w *jsonwriter.Writer, items []embeddings.Item) (purpose string, err error) {
	texts, images := 0, 0
	urls := make([]string, len(items))
	for i, it := range items {
		if it.Text != nil {
			texts++
		}
		if it.Image == nil {
			continue
		}
		images++
		if urls[i], err = imageURL(it.Image, fields.ElementPath("input", i)+".image"); err != nil {
			return "", err
		}
	}
	switch {
	case images == 0:
		w.Key("texts").Open('[')
		for _, it := range items {
			w.Value(it.Text)
		}
		w.Close(']')
		return "search_document", nil
	case texts == 0:
		w.Key("images").Open('[')
		for _, url := range urls {
			w.Text(url)
		}
		w.Close(']')
		return "image", nil
	}
	w.Key("inputs").Open('[')
	for i, it := range items {
		writeInput(w, it.Text, urls[i])
	}
	w.Close(']')
	return "search_document", nil
}

func writeInput(w *jsonwriter.Writer, text []byte, url string) {
	w.Open('{')
	w.Key("content").Open('[')
	if text != nil {
		w.Open('{')
		w.Str("type", "text")
		w.Raw("text", text)
		w.Close('}')
	}
	if url != "" {
		w.Open('{')
		w.Str("type", "image_url")
		w.Key("image_url").Open('{')
		w.Str("url", url)
		w.Close('}')
		w.Close('}')
	}
	w.Close(']')
	w.Close('}')
}

// imageURL returns {"base64":"iVBO…"} or {"url":"data:image/png;base64,iVBO…"} as a data URL.
func imageURL(raw []byte, path string) (string, error) {
	if url := jsonedit.Text(raw, "url"); url != "" {
		return url, nil
	}
	data := jsonedit.Text(raw, "base64")
	if strings.HasPrefix(data, "data:") {
		return data, nil
	}
	mime := imageType(data)
	if mime == "" {
		return "", fault.Newf(fault.InvalidParameter, "%s.base64 must be a data URL, or a PNG, JPEG, WebP or GIF image in base64", path).WithParam(path + ".base64")
	}
	return "data:" + mime + ";base64," + data, nil
}

// imageType detects the type of an image from the first characters of its base64, "" if unknown.
func imageType(data string) string {
	for _, s := range [...]struct{ head, mime string }{
		{"iVBORw0KGgo", "image/png"}, {"/9j/", "image/jpeg"}, {"UklGR", "image/webp"}, {"R0lGOD", "image/gif"},
	} {
		if strings.HasPrefix(data, s.head) {
			return s.mime
		}
	}
	return ""
}

// TranslateResponse reads {"embeddings":{"float":[[…]]},"meta":{…}}. Embeddings of version 1
// are a list.
func (embed) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	lists, _ := jsonedit.Find(incoming.Body, "embeddings")
	for name, val := range jsonedit.Members(lists) {
		if lists = val; string(name) == `"float"` {
			break
		}
	}
	meta, _ := jsonedit.Find(incoming.Body, "meta")
	e := embeddings.Result{Model: incoming.To.Model, Usage: readUsage(meta)}
	for v := range jsonedit.Elements(lists) {
		e.Vectors = append(e.Vectors, v)
	}
	if len(e.Vectors) == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no embeddings")
	}
	return e.BuildResponse()
}
