// Package hyperbolic translates image requests for Hyperbolic. Its other endpoints use
// OpenAI's shape. Start reading at Dialect.
package hyperbolic

import (
	"context"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/images"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Dialect is the shape that provider specs call "hyperbolic".
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "hyperbolic", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{llm.ImageGenerate: draw{}}}
}

// draw translates POST /v1/image/generation.
// Source: https://docs.hyperbolic.ai/inference/image-apis, read 2026-11;
// contract/provider-transforms.md 7.17.
type draw struct{}

var _ dialect.OpenAIEndpoint = draw{}

// EncodeRequest renames the model and splits the size. Everything else is forwarded.
func (draw) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	var d jsonedit.Doc
	if err := jsonedit.Scan(r.Body, &d); err != nil {
		return nil, err
	}
	t := fields.Track(r.Body)
	if _, err := images.ReadPrompt(t); err != nil {
		return nil, err
	}
	width, height, err := images.ReadSize(t)
	if err != nil {
		return nil, err
	}
	edits := []jsonedit.Edit{jsonedit.Drop("model_name"), jsonedit.Rename("model", "model_name"), jsonedit.Set("model_name", jsonedit.Quote(to.Model)), jsonedit.Drop("size")}
	if width > 0 {
		edits = append(edits, jsonedit.Set("width", strconv.AppendInt(nil, width, 10)), jsonedit.Set("height", strconv.AppendInt(nil, height, 10)))
	}
	out := &dialect.Outgoing{}
	if form, ok := d.String("response_format"); ok {
		edits = append(edits, jsonedit.Drop("response_format")) // it always is base64
		if form != "b64_json" {
			out.Dropped = []string{"response_format"}
		}
	}
	out.Body = d.Apply(edits)
	return out, nil
}

// TranslateResponse reads {"images":[{"image":…,"random_seed":1}]}.
func (draw) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	m := images.Result{Created: incoming.Created}
	list, _ := jsonedit.Find(incoming.Body, "images")
	for raw := range jsonedit.Elements(list) {
		var it images.Item
		for name, val := range jsonedit.Members(raw) {
			switch string(name) {
			case `"image"`, `"b64_json"`:
				it.Base64 = val
			case `"random_seed"`, `"seed"`:
				it.Extra = append(it.Extra, llm.Param{Name: "seed", Raw: val})
			}
		}
		m.Items = append(m.Items, it)
	}
	return m.BuildResponse()
}
