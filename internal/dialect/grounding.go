package dialect

import (
	"bytes"

	"sluice/internal/splice"
)

// groundingKey begins where a candidate of Gemini's tells what was searched for and found.
var groundingKey = []byte(`"groundingMetadata"`)

// groundingMetadata are the searches behind an answer of Gemini's that is passed through.
type groundingMetadata struct {
	queries int64 // that were made
	found   bool  // a page of the web
	once    bool  // the model is one before Gemini 3, of which an answer that rests on pages is one search
}

// read takes the candidates of an answer, or of an event, which may tell again what one before
// it told:
//
//	[{"groundingMetadata":{"webSearchQueries":["weather in Bern"],"groundingChunks":[{"web":{"uri":"https://…"}}]}}]
//
// Source: https://ai.google.dev/gemini-api/docs/google-search#pricing, read 2026-11.
func (g *groundingMetadata) read(candidates []byte) {
	if !bytes.Contains(candidates, groundingKey) {
		return
	}
	var queries int64
	for c := range splice.Elements(candidates) {
		raw, _ := splice.Find(c, "groundingMetadata")
		n, found := GroundingSearches(raw)
		queries, g.found = queries+n, g.found || found
	}
	g.queries = max(g.queries, queries)
}

// GroundingSearches is how many searches of the web stand behind a candidate of Gemini's, by what it
// says of them, and whether they found a page:
//
//	{"webSearchQueries":["weather in Bern"],"groundingChunks":[{"web":{"uri":"https://…"}}]}
func GroundingSearches(raw []byte) (queries int64, found bool) {
	list, _ := splice.Find(raw, "webSearchQueries")
	for q := range splice.Elements(list) {
		if text, _ := splice.Unquote(q); text != "" {
			queries++
		}
	}
	list, _ = splice.Find(raw, "groundingChunks")
	for chunk := range splice.Elements(list) {
		if _, found := splice.Find(chunk, "web"); found {
			return queries, true
		}
	}
	return queries, false
}

// searches is what Google bills of them.
func (g *groundingMetadata) searches() int64 {
	switch {
	case !g.once:
		return g.queries
	case g.found:
		return 1
	}
	return 0
}
