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

var _ dialect.Unified = embed{}

// EncodeRequest makes {"texts":["a","b"]}.
func (embed) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	t := dialect.Fields(r.Body)
	texts, err := dialect.EmbedTexts(t)
	if err != nil {
		return nil, err
	}
	dialect.WantsBase64(t) // the answer is put so
	var w dialect.JSON
	w.Open('{')
	w.Key("texts").Open('[')
	for _, text := range texts {
		w.Value(text)
	}
	w.Close(']')
	w.Carry(t, []dialect.Rename{{Path: "type", To: "type"}})
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Lost: t.Lost()}, nil
}

// DecodeAnswer reads {"results":[{"embedding":[…]}]}.
func (embed) DecodeAnswer(in *dialect.Incoming) (*dialect.Answer, error) {
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
