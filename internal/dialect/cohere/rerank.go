package cohere

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/reranking"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// rerank implements /v2/rerank.
// Source: https://docs.cohere.com/reference/rerank, read 2026-11; contract/provider-transforms.md 8.1.
type rerank struct{}

var _ dialect.OpenAIEndpoint = rerank{}

var rerankParams = []fields.Rename{
	{Path: "top_n", To: "top_n"}, {Path: "max_tokens_per_doc", To: "max_tokens_per_doc"}, {Path: "priority", To: "priority"},
}

// EncodeRequest builds a request to /v2/rerank, which accepts only strings as documents. It sends the
// text of an object, or the complete object as JSON when it has no text.
func (rerank) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	query, ok := t.Consume("query")
	if !ok {
		return nil, fault.New(fault.InvalidParameter, "query is required; send it in the request body").WithParam("query")
	}
	documents, ok := t.Consume("documents")
	if !ok || documents[0] != '[' {
		return nil, fault.New(fault.InvalidParameter, "documents must be a list of strings").WithParam("documents")
	}
	t.Consume("return_documents") // the gateway adds the documents to the response
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("model", to.Model)
	w.Raw("query", query)
	w.Key("documents").Open('[')
	for d := range jsonedit.Elements(documents) {
		writeText(&w, d)
	}
	w.Close(']')
	fields.WriteParams(&w, t, rerankParams)
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

func writeText(w *jsonwriter.Writer, document []byte) {
	text, ok := jsonedit.Find(document, "text")
	switch {
	case document[0] == '"':
		w.Value(document)
	case ok && text[0] == '"':
		w.Value(text)
	default:
		w.Text(string(document))
	}
}

// TranslateResponse reads {"id":…,"results":[{"index":0,"relevance_score":0.9}],"meta":{…}}.
func (rerank) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	list, ok := jsonedit.Find(incoming.Body, "results")
	if !ok {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no results")
	}
	meta, _ := jsonedit.Find(incoming.Body, "meta")
	r := reranking.Ranking{ID: jsonedit.Text(incoming.Body, "id"), Model: incoming.To.Model, Usage: readUsage(meta)}
	for res := range jsonedit.Elements(list) {
		var d reranking.Ranked
		for name, val := range jsonedit.Members(res) {
			switch string(name) {
			case `"index"`:
				d.Index, _ = usage.Count(val)
			case `"relevance_score"`:
				d.Score = val
			case `"document"`:
				d.Document = val
			}
		}
		r.Results = append(r.Results, d)
	}
	return r.BuildResponse(incoming.Sent.Body)
}
