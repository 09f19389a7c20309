package demo

import (
	"net/http"
	"slices"
	"strings"
)

type rerankRequest struct {
	Model     string `json:"model"`
	Query     string `json:"query"`
	Documents texts  `json:"documents"`
	TopN      int    `json:"top_n"`
	Return    bool   `json:"return_documents"`
}

type ranked struct {
	Index    int             `json:"index"`
	Score    float64         `json:"relevance_score"`
	Document *rankedDocument `json:"document,omitempty"`
}

type rankedDocument struct {
	Text string `json:"text"`
}

// rerank orders documents by the share of the query's words they contain; documents with equal
// shares retain their order. It reports one search unit a call, and tokens for query and
// documents.
func rerank(w http.ResponseWriter, r *http.Request) error {
	var q rerankRequest
	seed, err := decode(w, r, &q)
	if err != nil {
		return err
	}
	switch {
	case q.Model == "":
		return badParam("model", "you must provide a model parameter")
	case q.Query == "":
		return badParam("query", "you must provide a query parameter")
	case len(q.Documents) == 0:
		return badParam("documents", "Invalid 'documents': empty array.")
	}
	used := Tokens(q.Query)
	results := make([]ranked, len(q.Documents))
	for i, text := range q.Documents {
		used += Tokens(text)
		results[i] = ranked{Index: i, Score: overlap(q.Query, text)}
		if q.Return {
			results[i].Document = &rankedDocument{text}
		}
	}
	slices.SortStableFunc(results, func(a, b ranked) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	if q.TopN > 0 {
		results = results[:min(q.TopN, len(results))]
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"id": "rerank-" + seed, "model": q.Model, "results": results,
		"usage": map[string]any{"total_tokens": used},
		"meta":  map[string]any{"billed_units": map[string]any{"search_units": 1}},
	})
	return nil
}

// overlap returns the share of the query's words that occur in the text, 0 to 1.
func overlap(query, text string) float64 {
	terms := map[string]bool{}
	for _, w := range strings.Fields(strings.ToLower(text)) {
		terms[w] = true
	}
	words := strings.Fields(strings.ToLower(query))
	hits := 0
	for _, w := range words {
		if terms[w] {
			hits++
		}
	}
	return float64(hits) / float64(max(len(words), 1))
}
