// Package jina translates requests to rank documents for Jina AI. Jina's embeddings use
// OpenAI's shape. Start reading at Dialect.
package jina

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/reranking"
	"sluice/internal/kernel/llm"
)

// Dialect is the shape that provider specs call "jina". Documents may be texts, images
// and objects with either.
// Source: https://api.jina.ai/redoc#tag/rerank, read 2026-11; contract/provider-transforms.md 8.1.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "jina", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{
		llm.Rerank: reranking.Endpoint{Top: "top_n", Returns: true, Results: "results", Score: "relevance_score"},
	}}
}
