package ai21

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/splice"
)

// embed is /embed.
// Source: contract/provider-transforms.md 7.6.
type embed struct{}

var _ dialect.OpenAIEndpoint = embed{}

// EncodeRequest makes {"texts":["a","b"]}.
func (embed) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	return dialect.EncodeTexts(r, "texts", dialect.Rename{Path: "type", To: "type"})
}

// DecodeAnswer reads {"results":[{"embedding":[…]}]}.
func (embed) DecodeAnswer(in *dialect.Incoming) (*dialect.Response, error) {
	e := dialect.Embeddings{Model: in.To.Model, Base64: dialect.WantsBase64(dialect.Fields(in.Sent.Body))}
	results, _ := splice.Find(in.Body, "results")
	for r := range splice.Elements(results) {
		v, _ := splice.Find(r, "embedding")
		e.Vectors = append(e.Vectors, v)
	}
	if len(e.Vectors) == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "the provider's answer has no embeddings")
	}
	return e.Answer()
}
