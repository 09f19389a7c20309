package gemini

import "sluice/internal/dialect/usage"

// grounding is the member of a candidate that reports search queries and results.
const grounding = "groundingMetadata"

// searchesOf returns the number of searches that Google bills for a candidate, from its
// grounding. From Gemini 3 on, Google bills each query. For older models it bills the
// response once, if the response is based on a page that was found.
// Source: https://ai.google.dev/gemini-api/docs/google-search#pricing, read 2026-11.
func searchesOf(raw []byte, model string) int64 {
	queries, found := usage.GroundingSearches(raw)
	switch {
	case !oncePerPrompt(model):
		return queries
	case found:
		return 1
	}
	return 0
}

// oncePerPrompt reports whether a prompt is billed for at most one search.
func oncePerPrompt(model string) bool { return familyOf(model).major < 3 }

// searches adds up the billed searches of the candidates of a response. All candidates
// belong to one prompt.
func searches(model string, candidates int, countFor func(i int) int64) (n int64) {
	for i := range candidates {
		n += countFor(i)
	}
	if oncePerPrompt(model) {
		n = min(n, 1)
	}
	return n
}
