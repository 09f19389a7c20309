package workersai

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/embeddings"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// embed is text embeddings.
// Source: https://developers.cloudflare.com/workers-ai/models/bge-base-en-v1.5/, read 2026-11;
// contract/provider-transforms.md 7.3.
type embed struct{}

var _ dialect.OpenAIEndpoint = embed{}

// EncodeRequest makes {"text":["a","b"]}.
func (embed) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	return embeddings.EncodeTexts(r, "text", fields.Rename{Path: "pooling", To: "pooling"})
}

// TranslateResponse reads {"result":{"shape":[1,768],"data":[[…]]}}.
func (embed) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	raw, err := result(incoming.Body)
	if err != nil {
		return nil, err
	}
	e := embeddings.Result{Model: incoming.To.Model, Base64: embeddings.WantsBase64(fields.Track(incoming.Sent.Body))}
	e.Usage, _ = usage.Read(llm.Embed, raw, "")
	data, _ := jsonedit.Find(raw, "data")
	for v := range jsonedit.Elements(data) {
		e.Vectors = append(e.Vectors, v)
	}
	if len(e.Vectors) == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no embeddings")
	}
	return e.BuildResponse()
}
