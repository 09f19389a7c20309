// Package together is how Together AI ranks documents; all else of it is in OpenAI's
// shape.
package together

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
)

// Dialect is the shape that provider specs call "together". Documents may be texts, and
// objects of which rank_fields says what counts.
// Source: https://docs.together.ai/reference/rerank-1, read 2026-11; contract/provider-transforms.md 8.1.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "together", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{
		llm.Rerank: dialect.Reranker{Top: "top_n", Results: "results", Score: "relevance_score"},
	}}
}
