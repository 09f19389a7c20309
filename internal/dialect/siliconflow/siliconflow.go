// Package siliconflow translates image requests for SiliconFlow. Its other endpoints use
// OpenAI's shape. Start reading at Dialect.
package siliconflow

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/images"
	"sluice/internal/llm"
	"sluice/internal/splice"
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
	var d splice.Doc
	if err := splice.Scan(r.Body, &d); err != nil {
		return nil, err
	}
	if _, err := images.ReadPrompt(fields.Track(r.Body)); err != nil {
		return nil, err
	}
	edits := []splice.Edit{splice.Set("model", splice.Quote(to.Model)), splice.Rename("n", "batch_size")}
	if size, _ := d.String("size"); size == "auto" {
		edits = append(edits, splice.Drop("size"))
	}
	edits = append(edits, splice.Rename("size", "image_size"))
	out := &dialect.Outgoing{}
	if form, ok := d.String("response_format"); ok {
		edits = append(edits, splice.Drop("response_format")) // it always is a URL
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
	seed, _ := splice.Find(incoming.Body, "seed")
	list, _ := splice.Find(incoming.Body, "images")
	for raw := range splice.Elements(list) {
		var it images.Item
		it.URL, _ = splice.Find(raw, "url")
		if len(seed) > 0 {
			it.Extra = []llm.Param{{Name: "seed", Raw: seed}}
		}
		m.Items = append(m.Items, it)
	}
	return m.BuildResponse()
}
