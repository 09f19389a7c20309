package reranking

import (
	"cmp"
	"context"
	"slices"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Endpoint translates /rerank for providers that differ only in names: in the names of request
// members and of response members.
// Source: contract/provider-transforms.md 8.1.
type Endpoint struct {
	Top       string    // their name for top_n: "top_k"
	Documents Documents // the form of documents that they accept
	Returns   bool      // they return the documents unless return_documents is false
	Extras    []string  // additional members that they support; nil: everything is forwarded
	Results   string    // their name for results: "data"
	Score     string    // their name for relevance_score: "score"
}

// Documents is a form of the documents to rank. Callers may send texts and objects with a
// text.
type Documents uint8

// The forms.
const (
	AnyDocuments    Documents = iota // unchanged
	TextDocuments                    // texts: the text of an object, or the object as JSON if it has none
	ObjectDocuments                  // objects, a text under "text"
)

var _ dialect.OpenAIEndpoint = Endpoint{}

// EncodeRequest encodes the provider's request.
func (k Endpoint) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	query, ok := t.Consume("query")
	if !ok {
		return nil, fault.New(fault.InvalidParameter, "query is required; send it in the request body").WithParam("query")
	}
	documents, ok := t.Consume("documents")
	if !ok || documents[0] != '[' {
		return nil, fault.New(fault.InvalidParameter, "documents must be a list of strings").WithParam("documents")
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("model", to.Model)
	w.Raw("query", query)
	k.documents(&w, documents)
	top, _ := t.Consume("top_n")
	w.Raw(k.Top, top)
	k.writeDocuments(&w, t)
	for name, raw := range jsonedit.Members(r.Body) {
		if key, _ := jsonedit.Unquote(name); k.supports(key) && string(raw) != "null" {
			t.Consume(key)
			w.RawKey(name).Value(raw)
		}
	}
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// supports reports whether a member is forwarded unchanged.
func (k Endpoint) supports(key string) bool {
	switch key {
	case "model", "stream", "query", "documents", "top_n", "return_documents":
		return false
	}
	return k.Extras == nil || slices.Contains(k.Extras, key)
}

// writeDocuments writes return_documents. Unless the caller requests documents, they are not
// returned.
func (k Endpoint) writeDocuments(w *jsonwriter.Writer, t *llm.FieldTracker) {
	raw, requested := t.Consume("return_documents")
	switch {
	case requested:
		w.Raw("return_documents", raw)
	case k.Returns:
		w.Bool("return_documents", false)
	}
}

func (k Endpoint) documents(w *jsonwriter.Writer, list []byte) {
	if k.Documents == AnyDocuments {
		w.Raw("documents", list)
		return
	}
	w.Key("documents").Open('[')
	for d := range jsonedit.Elements(list) {
		text, _ := jsonedit.Find(d, "text")
		switch {
		case k.Documents == ObjectDocuments && d[0] == '"':
			w.Open('{')
			w.Raw("text", d)
			w.Close('}')
		case k.Documents == ObjectDocuments, d[0] == '"':
			w.Value(d)
		case len(text) > 0 && text[0] == '"':
			w.Value(text)
		default:
			w.Text(string(d))
		}
	}
	w.Close(']')
}

// TranslateResponse reads the provider's results.
func (k Endpoint) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	list, ok := jsonedit.Find(incoming.Body, k.Results)
	if !ok || list[0] != '[' {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no results")
	}
	r := Ranking{}
	r.Usage, r.Model = usage.Read(llm.Rerank, incoming.Body, "")
	r.Model = cmp.Or(r.Model, incoming.To.Model)
	if id, found := jsonedit.Find(incoming.Body, "id"); found {
		r.ID, _ = jsonedit.Unquote(id)
	}
	for res := range jsonedit.Elements(list) {
		d := Ranked{Index: -1}
		for name, val := range jsonedit.Members(res) {
			switch {
			case jsonedit.IsName(name, "index"):
				d.Index, _ = usage.Count(val)
			case jsonedit.IsName(name, k.Score):
				d.Score = val
			case jsonedit.IsName(name, "document"):
				d.Document = val
			}
		}
		if d.Index < 0 {
			return nil, fault.New(fault.UpstreamInvalid, "the provider response has a result for an unknown document")
		}
		r.Results = append(r.Results, d)
	}
	return r.BuildResponse(incoming.Sent.Body)
}
