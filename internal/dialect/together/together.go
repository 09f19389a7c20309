// Package together translates requests to rank documents for Together AI. Its other endpoints
// use OpenAI's shape. Start reading at Dialect.
package together

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/reranking"
	"sluice/internal/kernel/llm"
)

// Dialect is the shape that provider specs call "together". Documents may be texts, and
// objects of which rank_fields says what counts.
// Source: https://docs.together.ai/reference/rerank-1, read 2026-11; contract/provider-transforms.md 8.1.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "together", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{
		llm.Rerank: reranking.Endpoint{Top: "top_n", Results: "results", Score: "relevance_score"},
	}}
}
