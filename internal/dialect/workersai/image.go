package workersai

import (
	"context"
	"strconv"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/media"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// image is text to image.
// Source: https://developers.cloudflare.com/workers-ai/models/flux-1-schnell/, read 2026-11;
// contract/provider-transforms.md 7.3.
type image struct{}

var _ dialect.OpenAIEndpoint = image{}

// EncodeRequest builds a request for an image. Models differ in the name that they read for
// the number of steps.
func (image) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	prompt, ok := t.Consume("prompt")
	if !ok {
		return nil, fault.New(fault.InvalidParameter, "prompt is required; send it in the request body").WithParam("prompt")
	}
	if raw, _ := t.Peek("response_format"); string(raw) == `"b64_json"` {
		t.Consume("response_format") // what comes anyway
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Raw("prompt", prompt)
	if raw, ok := t.Consume("steps"); ok {
		w.Raw("num_steps", raw)
		w.Raw("steps", raw)
	}
	if width, height, ok := size(t); ok {
		w.Int("width", width)
		w.Int("height", height)
	}
	fields.WriteParams(&w, t, []fields.Rename{{Path: "negative_prompt", To: "negative_prompt"}, {Path: "seed", To: "seed"}})
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// size splits "1024x768". It leaves anything else, for example "auto", unconsumed.
func size(t *llm.FieldTracker) (width, height int64, ok bool) {
	raw, _ := t.Peek("size")
	text, _ := jsonedit.Unquote(raw)
	w, h, _ := strings.Cut(text, "x")
	width, err := strconv.ParseInt(w, 10, 32)
	if err != nil {
		return 0, 0, false
	}
	if height, err = strconv.ParseInt(h, 10, 32); err != nil {
		return 0, 0, false
	}
	t.Consume("size")
	return width, height, true
}

// TranslateResponse reads {"result":{"image":"/9j/…"}}, or the image itself, which is what
// some models answer with.
func (image) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	var data string
	if strings.HasPrefix(incoming.Header.Get("content-type"), "image/") {
		data = media.Base64(incoming.Body)
	} else {
		raw, err := result(incoming.Body)
		if err != nil {
			return nil, err
		}
		data = jsonedit.Text(raw, "image")
	}
	if data == "" {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no image")
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Int("created", incoming.Created)
	w.Key("data").Open('[')
	w.Open('{')
	w.Str("b64_json", data)
	w.Close('}')
	w.Close(']')
	w.Close('}')
	return &dialect.Response{Body: w.B, Model: incoming.To.Model}, nil
}
