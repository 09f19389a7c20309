package gemini

import (
	"context"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/reranking"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// rank is the ranking of Google's Discovery Engine.
// Source: https://cloud.google.com/generative-ai-app-builder/docs/ranking, read 2026-11;
// contract/provider-transforms.md 8.1.
type rank struct{}

var _ dialect.OpenAIEndpoint = rank{}

// EncodeRequest writes the documents as records, with their indexes as ids.
func (rank) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	documents, ok := t.Consume("documents")
	if !ok || documents[0] != '[' {
		return nil, fields.Invalid("documents", "must be a list of strings")
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("model", to.Model)
	fields.WriteParams(&w, t, []fields.Rename{{Path: "query", To: "query"}, {Path: "top_n", To: "topN"}})
	w.Key("records").Open('[')
	i := 0
	for d := range jsonedit.Elements(documents) {
		w.Open('{')
		w.Str("id", strconv.Itoa(i))
		if d[0] == '"' {
			w.Raw("content", d)
		} else {
			title, _ := jsonedit.Find(d, "title")
			text, _ := jsonedit.Find(d, "text")
			w.Raw("title", title)
			w.Raw("content", text)
		}
		w.Close('}')
		i++
	}
	w.Close(']')
	t.Consume("return_documents") // the gateway has the documents
	w.Bool("ignoreRecordDetailsInResponse", true)
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// TranslateResponse reads {"records":[{"id":"1","score":0.9}]}, the best first.
func (rank) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	records, ok := jsonedit.Find(incoming.Body, "records")
	if !ok {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no records")
	}
	out := reranking.Ranking{Model: incoming.To.Model}
	for r := range jsonedit.Elements(records) {
		id, _ := jsonedit.Find(r, "id")
		score, _ := jsonedit.Find(r, "score")
		n, err := strconv.ParseInt(plainText(id), 10, 64)
		if err != nil {
			return nil, fault.New(fault.UpstreamInvalid, "the provider response has a record that was not requested")
		}
		out.Results = append(out.Results, reranking.Ranked{Index: n, Score: score})
	}
	return out.BuildResponse(incoming.Sent.Body)
}
