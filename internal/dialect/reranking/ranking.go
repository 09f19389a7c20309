package reranking

import (
	"cmp"
	"slices"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Ranking is a response to /rerank.
// Source: contract/provider-transforms.md 8.1.
type Ranking struct {
	ID      string // empty: a new one is generated
	Model   string
	Results []Ranked // best first
	Usage   llm.Usage
}

// Ranked is one result.
type Ranked struct {
	Index    int64  // of the document in the request
	Score    []byte // raw JSON number: 0.97
	Document []byte // raw JSON as the provider returned it; nil: it returned none
}

// BuildResponse writes the response. Documents that the provider did not return are copied from the
// request, if that requested them with return_documents.
func (r *Ranking) BuildResponse(request []byte) (*dialect.Response, error) {
	returnDocuments, _ := jsonedit.Find(request, "return_documents")
	var documents [][]byte
	if string(returnDocuments) == "true" {
		list, _ := jsonedit.Find(request, "documents")
		documents = slices.Collect(jsonedit.Elements(list))
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("id", cmp.Or(r.ID, ident.NewObjectID("rerank-")))
	w.Str("object", "list")
	w.Key("results").Open('[')
	for _, d := range r.Results {
		if len(d.Score) == 0 {
			return nil, fault.New(fault.UpstreamInvalid, "the provider response has a result without a score")
		}
		w.Open('{')
		w.Int("index", d.Index)
		w.Raw("relevance_score", d.Score)
		if d.Document == nil && d.Index >= 0 && d.Index < int64(len(documents)) {
			d.Document = documents[d.Index]
		}
		writeDocument(&w, d.Document)
		w.Close('}')
	}
	w.Close(']')
	w.Str("model", r.Model)
	w.Key("usage").Open('{')
	if r.Usage.SearchUnits > 0 || r.Usage.TotalTokens == 0 {
		w.Int("search_units", r.Usage.SearchUnits)
	}
	if r.Usage.TotalTokens > 0 {
		w.Int("total_tokens", r.Usage.TotalTokens)
	}
	w.Close('}')
	w.Close('}')
	return &dialect.Response{Body: w.B, Usage: r.Usage, Model: r.Model}, nil
}

// writeDocument writes a document as an object, a plain text under text.
func writeDocument(w *jsonwriter.Writer, raw []byte) {
	if len(raw) == 0 || raw[0] != '"' {
		w.Raw("document", raw)
		return
	}
	w.Key("document").Open('{')
	w.Raw("text", raw)
	w.Close('}')
}
