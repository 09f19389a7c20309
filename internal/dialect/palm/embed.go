package palm

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/embeddings"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// embed translates :embedText, which takes one text at a time.
// Source: contract/provider-transforms.md 7.7.
type embed struct{}

var _ dialect.OpenAIEndpoint = embed{}

// EncodeRequest writes {"text":"a"}, one request for each text.
func (embed) EncodeRequest(_ context.Context, r *dialect.Request, _ *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	texts, err := embeddings.ReadTexts(t)
	switch {
	case err != nil:
		return nil, err
	case len(texts) == 0:
		return nil, fault.New(fault.InvalidParameter, "input must not be empty").WithParam("input")
	}
	embeddings.WantsBase64(t) // the answer is put so
	out := &dialect.Outgoing{Body: embedding(texts[0]), Dropped: t.Dropped()}
	for _, text := range texts[1:] {
		out.More = append(out.More, embedding(text))
	}
	return out, nil
}

func embedding(text []byte) []byte {
	var w jsonwriter.Writer
	w.Open('{')
	w.Raw("text", text)
	w.Close('}')
	return w.B
}

// TranslateResponse reads {"embedding":{"value":[…]}} of each.
func (embed) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	e := embeddings.Result{Model: incoming.To.Model, Base64: embeddings.WantsBase64(fields.Track(incoming.Sent.Body))}
	for _, body := range append([][]byte{incoming.Body}, incoming.More...) {
		v, _ := jsonedit.Find(body, "embedding", "value")
		e.Vectors = append(e.Vectors, v)
	}
	return e.BuildResponse()
}
