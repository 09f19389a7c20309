package usage

import (
	"bytes"

	"sluice/internal/kernel/jsonedit"
)

// groundingKey begins the part of a Gemini candidate that contains its searches and results.
var groundingKey = []byte(`"groundingMetadata"`)

// groundingMetadata counts the searches of a Gemini response that is passed through.
type groundingMetadata struct {
	queries int64 // number of search queries
	found   bool  // the search found a web page
	once    bool  // the model is older than Gemini 3: a response based on web pages counts as one search
}

// read reads the candidates of a response or of an event. An event may repeat the data of an
// earlier one:
//
//	[{"groundingMetadata":{"webSearchQueries":["weather in Bern"],"groundingChunks":[{"web":{"uri":"https://…"}}]}}]
//
// Source: https://ai.google.dev/gemini-api/docs/google-search#pricing, read 2026-11.
func (g *groundingMetadata) read(candidates []byte) {
	if !bytes.Contains(candidates, groundingKey) {
		return
	}
	var queries int64
	for c := range jsonedit.Elements(candidates) {
		raw, _ := jsonedit.Find(c, "groundingMetadata")
		n, found := GroundingSearches(raw)
		queries, g.found = queries+n, g.found || found
	}
	g.queries = max(g.queries, queries)
}

// GroundingSearches is the number of web searches in the metadata of a Gemini candidate, and whether
// they found a page:
//
//	{"webSearchQueries":["weather in Bern"],"groundingChunks":[{"web":{"uri":"https://…"}}]}
func GroundingSearches(raw []byte) (queries int64, found bool) {
	list, _ := jsonedit.Find(raw, "webSearchQueries")
	for q := range jsonedit.Elements(list) {
		if text, _ := jsonedit.Unquote(q); text != "" {
			queries++
		}
	}
	list, _ = jsonedit.Find(raw, "groundingChunks")
	for chunk := range jsonedit.Elements(list) {
		if _, found := jsonedit.Find(chunk, "web"); found {
			return queries, true
		}
	}
	return queries, false
}

// searches is the number of searches that Google bills.
func (g *groundingMetadata) searches() int64 {
	switch {
	case !g.once:
		return g.queries
	case g.found:
		return 1
	}
	return 0
}
