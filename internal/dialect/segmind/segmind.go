// Package segmind translates image requests for Segmind. Callers use OpenAI's shape. Start
// reading at Dialect.
package segmind

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/images"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Dialect is the shape that provider specs call "segmind".
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "segmind", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{llm.ImageGenerate: draw{}}}
}

// draw translates POST /v1/{model}.
// Source: https://docs.segmind.com, read 2026-11; contract/provider-transforms.md 7.17.
type draw struct{}

var _ dialect.OpenAIEndpoint = draw{}

var params = []fields.Alias{
	{To: "samples", From: []string{"n", "samples"}}, {To: "style"}, {To: "negative_prompt"},
	{To: "scheduler"}, {To: "guidance_scale", From: []string{"guidance_scale", "cfg_scale"}}, {To: "seed"},
	{To: "strength"}, {To: "refiner"}, {To: "high_noise_fraction"},
	{To: "control_scale"}, {To: "control_start"}, {To: "control_end"},
	{To: "qr_text"}, {To: "invert"}, {To: "size", From: []string{"qr_size"}},
}

// EncodeRequest builds the request. It requests a base64 response, which would otherwise be
// a bare file. Segmind has no default for the number of steps.
func (draw) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	prompt, err := images.ReadPrompt(t)
	if err != nil {
		return nil, err
	}
	width, height, err := images.ReadSize(t)
	if err != nil {
		return nil, err
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Raw("prompt", prompt)
	if width > 0 {
		w.Int("img_width", width)
		w.Int("img_height", height)
	}
	if steps, ok := t.First("num_inference_steps", "steps"); ok {
		w.Raw("num_inference_steps", steps)
	} else {
		w.Int("num_inference_steps", 20)
	}
	fields.WriteAliases(&w, t, params)
	w.Bool("base64", true)
	w.Close('}')
	t.Consume("base64")
	images.Base64Only(t)
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// TranslateResponse reads {"image":"…"} or {"image":["…","…"]}.
func (draw) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	m := images.Result{Created: incoming.Created}
	raw, _ := jsonedit.Find(incoming.Body, "image")
	if len(raw) > 0 && raw[0] == '"' {
		m.Items = append(m.Items, images.Item{Base64: raw})
	}
	for val := range jsonedit.Elements(raw) {
		m.Items = append(m.Items, images.Item{Base64: val})
	}
	return m.BuildResponse()
}
