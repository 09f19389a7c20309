// Package cohere is the shape that Cohere's API speaks: version 2 of chat, embed and
// rerank, version 1 of generate, datasets and embed jobs.
package cohere

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
)

// Dialect returns the shape.
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
