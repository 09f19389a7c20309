// Package images reads requests to /images/generations and writes responses in OpenAI's shape. Start
// with ReadPrompt and Result.
package images

import (
	"strconv"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// Result is a response to /images/generations in OpenAI's shape.
// Source: https://platform.openai.com/docs/api-reference/images/object, read 2026-11.
type Result struct {
	Created int64 // epoch seconds
	Items   []Item
	Usage   llm.Usage
}

// Item is one image, raw JSON strings: in base64 or as a URL. Extra are the provider's
// additional members, for example the seed.
type Item struct {
	Base64, URL []byte
	Extra       []llm.Param
}

// BuildResponse writes the response. A response without images, or with one that is not a string, is
// fault.UpstreamInvalid.
func (m *Result) BuildResponse() (*dialect.Response, error) {
	if len(m.Items) == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no images")
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Int("created", m.Created)
	w.Key("data").Open('[')
	for _, it := range m.Items {
		if (len(it.Base64) == 0 || it.Base64[0] != '"') && (len(it.URL) == 0 || it.URL[0] != '"') {
			return nil, fault.New(fault.UpstreamInvalid, "the provider response has an image that is neither base64 nor a URL")
		}
		w.Open('{')
		w.Raw("b64_json", it.Base64)
		w.Raw("url", it.URL)
		for _, p := range it.Extra {
			w.Named(p.Name, p.Raw)
		}
		w.Close('}')
	}
	w.Close(']')
	w.Close('}')
	return &dialect.Response{Body: w.B, Usage: m.Usage}, nil
}

// ReadPrompt consumes the prompt of an image request, raw JSON. A missing prompt, or one that is
// not a string, is fault.InvalidParameter.
func ReadPrompt(t *llm.FieldTracker) ([]byte, error) {
	raw, ok := t.Consume("prompt")
	switch {
	case !ok:
		return nil, fault.New(fault.InvalidParameter, "prompt is required; send it in the request body").WithParam("prompt")
	case raw[0] != '"':
		return nil, fault.New(fault.InvalidParameter, "prompt must be a string").WithParam("prompt")
	}
	return raw, nil
}

// ReadSize parses size, "1024x768". Both are 0 if the request has no size or "auto". Anything
// else is fault.InvalidParameter.
func ReadSize(t *llm.FieldTracker) (width, height int64, err error) {
	raw, ok := t.Consume("size")
	if !ok || string(raw) == `"auto"` {
		return 0, 0, nil
	}
	w, h, _ := strings.Cut(strings.Trim(string(raw), `"`), "x")
	width, werr := strconv.ParseInt(w, 10, 32)
	height, herr := strconv.ParseInt(h, 10, 32)
	if werr != nil || herr != nil || width < 1 || height < 1 {
		return 0, 0, fault.New(fault.InvalidParameter, `size must be a width and a height such as "1024x1024"`).WithParam("size")
	}
	return width, height, nil
}

// Base64Only consumes response_format if it requests base64, for providers that never return URLs.
// A request for URLs is not consumed and is therefore reported as dropped.
func Base64Only(t *llm.FieldTracker) {
	if raw, _ := t.Peek("response_format"); string(raw) == `"b64_json"` {
		t.Consume("response_format")
	}
}
