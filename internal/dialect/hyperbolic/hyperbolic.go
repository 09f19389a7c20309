// Package hyperbolic translates image requests for Hyperbolic. Its other endpoints use
// OpenAI's shape. Start reading at Dialect.
package hyperbolic

import (
	"context"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/images"
	"sluice/internal/llm"
	"sluice/internal/splice"
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
	var d splice.Doc
	if err := splice.Scan(r.Body, &d); err != nil {
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
	edits := []splice.Edit{splice.Drop("model_name"), splice.Rename("model", "model_name"), splice.Set("model_name", splice.Quote(to.Model)), splice.Drop("size")}
	if width > 0 {
		edits = append(edits, splice.Set("width", strconv.AppendInt(nil, width, 10)), splice.Set("height", strconv.AppendInt(nil, height, 10)))
	}
	out := &dialect.Outgoing{}
	if form, ok := d.String("response_format"); ok {
		edits = append(edits, splice.Drop("response_format")) // it always is base64
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
	list, _ := splice.Find(incoming.Body, "images")
	for raw := range splice.Elements(list) {
		var it images.Item
		for name, val := range splice.Members(raw) {
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
