package ai21

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/embeddings"
	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// embed implements /embed.
// Source: contract/provider-transforms.md 7.6.
type embed struct{}

var _ dialect.OpenAIEndpoint = embed{}

// EncodeRequest builds {"texts":["a","b"]}.
func (embed) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	return embeddings.EncodeTexts(r, "texts", fields.Rename{Path: "type", To: "type"})
}

// TranslateResponse reads {"results":[{"embedding":[…]}]}.
func (embed) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	e := embeddings.Result{Model: incoming.To.Model, Base64: embeddings.WantsBase64(fields.Track(incoming.Sent.Body))}
	results, _ := jsonedit.Find(incoming.Body, "results")
	for r := range jsonedit.Elements(results) {
		v, _ := jsonedit.Find(r, "embedding")
		e.Vectors = append(e.Vectors, v)
	}
	if len(e.Vectors) == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no embeddings")
	}
	return e.BuildResponse()
}
