package gemini

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/embeddings"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// embedContents implements batchEmbedContents of the Gemini API: one vector for each input.
// Source: https://ai.google.dev/api/embeddings, read 2026-11;
// contract/provider-transforms.md 4.6.
type embedContents struct{}

var _ dialect.OpenAIEndpoint = embedContents{}

// embedSettings lists the parameters that each request of the batch contains.
var embedSettings = []fields.Rename{{Path: "task_type", To: "taskType"}, {Path: "title", To: "title"}, {Path: "dimensions", To: "outputDimensionality"}}

// EncodeRequest writes a request for each input. Only texts can be embedded.
func (embedContents) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	embeddings.WantsBase64(t)
	texts, err := embeddings.ReadTexts(t)
	if err != nil {
		return nil, err
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Key("requests").Open('[')
	for _, text := range texts {
		w.Open('{')
		w.Str("model", "models/"+to.Model)
		content(&w, text)
		fields.WriteParams(&w, t, embedSettings)
		w.Close('}')
	}
	w.Close(']')
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// content writes a raw string as a content.
func content(w *jsonwriter.Writer, text []byte) {
	w.Key("content").Open('{')
	w.Key("parts").Open('[')
	w.Open('{')
	w.Raw("text", text)
	w.Close('}')
	w.Close(']')
	w.Close('}')
}

// TranslateResponse reads {"embeddings":[{"values":[…]}]}.
func (embedContents) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	e := embeddings.Result{Model: incoming.To.Model, Base64: embeddings.WantsBase64(fields.Track(incoming.Sent.Body))}
	list, _ := jsonedit.Find(incoming.Body, "embeddings")
	for v := range jsonedit.Elements(list) {
		values, _ := jsonedit.Find(v, "values")
		e.Vectors = append(e.Vectors, values)
	}
	if len(e.Vectors) == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no embeddings")
	}
	if raw, ok := jsonedit.Find(incoming.Body, "usageMetadata"); ok {
		e.Usage = embedUsage(readUsage(raw))
	}
	return e.BuildResponse()
}

// embedUsage sets a missing total to the input tokens, because embeddings have no output tokens.
func embedUsage(u llm.Usage) llm.Usage {
	if u.TotalTokens == 0 {
		u.TotalTokens = u.InputTokens
	}
	return u
}
