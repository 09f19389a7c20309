// Package cohere implements the dialect of Cohere's API: version 2 of chat, embed and rerank, and
// version 1 of generate, datasets and embed jobs. Start reading at Dialect.
package cohere

import (
	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

// Dialect returns the dialect for Cohere.
// Source: contract/provider-transforms.md 6 and 8.1.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{
		Name:      "cohere",
		Upstreams: map[llm.Endpoint]dialect.Upstream{llm.ChatComplete: chat{}},
		Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{
			llm.Embed: embed{}, llm.Complete: generate{}, llm.Rerank: rerank{},
			llm.UploadFile: upload{}, llm.ListFiles: files{}, llm.RetrieveFile: files{}, llm.DeleteFile: files{},
			llm.CreateBatch: createJob{}, llm.ListBatches: jobs{}, llm.RetrieveBatch: jobs{}, llm.CancelBatch: jobs{},
			llm.GetBatchOutput: output{},
		},
	}
}
