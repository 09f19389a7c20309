// Package pinecone translates requests to rank documents for Pinecone's inference API. Start
// reading at Dialect.
package pinecone

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/reranking"
	"sluice/internal/kernel/llm"
)

// Dialect is the shape that provider specs call "pinecone".
// Source: https://docs.pinecone.io/reference/api/2026-07/inference/rerank-results, read
// 2026-11; contract/provider-transforms.md 8.1.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "pinecone", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{
		llm.Rerank: reranking.Endpoint{
			Top: "top_n", Documents: reranking.ObjectDocuments, Returns: true, Extras: []string{"rank_fields", "parameters"}, Results: "data", Score: "score",
		},
	}}
}
