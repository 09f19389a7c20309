// Package siliconflow translates image requests for SiliconFlow. Its other endpoints use
// OpenAI's shape. Start reading at Dialect.
package siliconflow

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/images"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Dialect is the shape that provider specs call "siliconflow".
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "siliconflow", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{llm.ImageGenerate: draw{}}}
}

// draw translates POST /v1/{model}/text-to-image.
// Source: https://docs.siliconflow.cn/cn/api-reference/images/images-generations, read
// 2026-11; contract/provider-transforms.md 7.17.
type draw struct{}

var _ dialect.OpenAIEndpoint = draw{}

// EncodeRequest renames size and number. Everything else is forwarded.
func (draw) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	var d jsonedit.Doc
	if err := jsonedit.Scan(r.Body, &d); err != nil {
		return nil, err
	}
	if _, err := images.ReadPrompt(fields.Track(r.Body)); err != nil {
		return nil, err
	}
	edits := []jsonedit.Edit{jsonedit.Set("model", jsonedit.Quote(to.Model)), jsonedit.Rename("n", "batch_size")}
	if size, _ := d.String("size"); size == "auto" {
		edits = append(edits, jsonedit.Drop("size"))
	}
	edits = append(edits, jsonedit.Rename("size", "image_size"))
	out := &dialect.Outgoing{}
	if form, ok := d.String("response_format"); ok {
		edits = append(edits, jsonedit.Drop("response_format")) // it always is a URL
		if form != "url" {
			out.Dropped = []string{"response_format"}
		}
	}
	out.Body = d.Apply(edits)
	return out, nil
}

// TranslateResponse reads {"images":[{"url":…}],"seed":1}.
func (draw) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	m := images.Result{Created: incoming.Created}
	seed, _ := jsonedit.Find(incoming.Body, "seed")
	list, _ := jsonedit.Find(incoming.Body, "images")
	for raw := range jsonedit.Elements(list) {
		var it images.Item
		it.URL, _ = jsonedit.Find(raw, "url")
		if len(seed) > 0 {
			it.Extra = []llm.Param{{Name: "seed", Raw: seed}}
		}
		m.Items = append(m.Items, it)
	}
	return m.BuildResponse()
}
