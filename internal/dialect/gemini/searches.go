package gemini

import "sluice/internal/dialect"

// grounding is where a candidate tells what was searched for and found.
const grounding = "groundingMetadata"

// searchesOf is what Google bills of the searches of a candidate, by its grounding: from
// Gemini 3 on each query, of older models the answer, once, when it rests on a page that was
// found.
// Source: https://ai.google.dev/gemini-api/docs/google-search#pricing, read 2026-11.
func searchesOf(raw []byte, model string) int64 {
	queries, found := dialect.GroundingSearches(raw)
	switch {
	case !oncePerPrompt(model):
		return queries
	case found:
		return 1
	}
	return 0
}

// oncePerPrompt reports whether a prompt is billed for one search, however many there were.
func oncePerPrompt(model string) bool { return familyOf(model).major < 3 }

// searches adds up what is billed of the candidates of an answer, which have one prompt.
func searches(model string, candidates int, countFor func(i int) int64) (n int64) {
	for i := range candidates {
		n += countFor(i)
	}
	if oncePerPrompt(model) {
		n = min(n, 1)
	}
	return n
}
