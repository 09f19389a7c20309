package stability

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/images"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// artifacts translates version 1, which uses JSON for requests and responses.
// Source: https://platform.stability.ai/docs/api-reference#tag/SDXL-1.0-and-SD1.6, read
// 2026-11; contract/provider-transforms.md 7.9.
type artifacts struct{}

var _ dialect.OpenAIEndpoint = artifacts{}

var artifactParams = []fields.Alias{
	{To: "samples", From: []string{"n", "samples"}}, {To: "style_preset", From: []string{"style_preset", "style"}}, {To: "cfg_scale"},
	{To: "clip_guidance_preset"}, {To: "sampler"}, {To: "seed"},
	{To: "steps"}, {To: "extras"},
}

// EncodeRequest writes {"text_prompts":[{"text":…,"weight":1}],…}. A negative prompt has a
// negative weight.
func (artifacts) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
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
	w.Key("text_prompts").Open('[')
	weighted(&w, prompt, 1)
	if unwanted, ok := t.Consume("negative_prompt"); ok {
		weighted(&w, unwanted, -1)
	}
	w.Close(']')
	if width > 0 {
		w.Int("width", width)
		w.Int("height", height)
	}
	fields.WriteAliases(&w, t, artifactParams)
	w.Close('}')
	images.Base64Only(t)
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

func weighted(w *jsonwriter.Writer, text []byte, weight int64) {
	w.Open('{')
	w.Raw("text", text)
	w.Int("weight", weight)
	w.Close('}')
}

// TranslateResponse reads {"artifacts":[{"base64":…,"seed":1,"finishReason":"SUCCESS"}]}.
func (artifacts) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	m := images.Result{Created: incoming.Created}
	list, _ := jsonedit.Find(incoming.Body, "artifacts")
	for raw := range jsonedit.Elements(list) {
		m.Items = append(m.Items, image(raw, "base64", "finishReason"))
	}
	return m.BuildResponse()
}
