// Package voyage translates embedding and ranking requests for Voyage AI, which nearly uses
// OpenAI's shape. Start reading at Dialect.
package voyage

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/reranking"
	"sluice/internal/kernel/llm"
)

// Dialect is the shape that provider specs call "voyage".
// Source: https://docs.voyageai.com/reference/reranker-api, read 2026-11;
// contract/provider-transforms.md 7.10 and 8.1.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "voyage", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{
		llm.Embed:  embed{},
		llm.Rerank: reranking.Endpoint{Top: "top_k", Documents: reranking.TextDocuments, Results: "data", Score: "relevance_score"},
	}}
}
