// Package nomic translates embedding requests for Nomic Atlas. Callers use OpenAI's shape.
// Start reading at Dialect.
package nomic

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/embeddings"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Dialect is the shape that provider specs call "nomic".
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "nomic", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{llm.Embed: embed{}}}
}

// embed translates POST /v1/embedding/text.
// Source: https://docs.nomic.ai/reference/api/embed-text-v-1-embedding-text-post, read
// 2026-11; contract/provider-transforms.md 7.10.
type embed struct{}

var _ dialect.OpenAIEndpoint = embed{}

var params = []fields.Alias{
	{To: "task_type"}, {To: "dimensionality", From: []string{"dimensions", "dimensionality"}}, {To: "long_text_mode"},
	{To: "max_tokens_per_text"},
}

// EncodeRequest writes {"model":…,"texts":[…],"task_type":"search_query"}.
func (embed) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	texts, err := embeddings.ReadTexts(t)
	if err != nil {
		return nil, err
	}
	embeddings.WantsBase64(t) // answered below
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("model", to.Model)
	w.Key("texts").Open('[')
	for _, text := range texts {
		w.Value(text)
	}
	w.Close(']')
	fields.WriteAliases(&w, t, params)
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// TranslateResponse reads {"embeddings":[[…]],"usage":{"prompt_tokens":4,"total_tokens":4}}.
func (embed) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	list, ok := jsonedit.Find(incoming.Body, "embeddings")
	if !ok || list[0] != '[' {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no embeddings")
	}
	e := embeddings.Result{Base64: embeddings.WantsBase64(fields.Track(incoming.Sent.Body))}
	e.Usage, e.Model = usage.Read(llm.Embed, incoming.Body, "")
	if e.Model == "" {
		e.Model = incoming.To.Model
	}
	for v := range jsonedit.Elements(list) {
		e.Vectors = append(e.Vectors, v)
	}
	return e.BuildResponse()
}
