// Package bedrock implements the dialect of Amazon Bedrock. It uses Converse and its event stream
// for conversations, and the native bodies of the model families for completions, embeddings and
// images. It uses the control plane for batches and fine-tuning, whose files are in S3. Start
// reading at Dialect.
// Source: contract/provider-transforms.md section 3;
// https://docs.aws.amazon.com/bedrock/latest/APIReference/, read 2026-11.
package bedrock

import (
	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

// Dialect returns the dialect. It is for upstreams only.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{
		Name:     "bedrock",
		Profiles: profiles{},
		Upstreams: map[llm.Endpoint]dialect.Upstream{
			llm.ChatComplete: converseUpstream{},
			llm.Messages:     converseUpstream{},
		},
		Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{
			llm.MessagesCountTokens: counting{},
			llm.Complete:            completion{},
			llm.Embed:               embedding{},
			llm.ImageGenerate:       image{},
			llm.Rerank:              ranking{},
			llm.UploadFile:          upload{},
			llm.RetrieveFile:        files{},
			llm.RetrieveFileContent: files{},
			llm.CreateBatch:         newBatch{},
			llm.ListBatches:         batches{},
			llm.RetrieveBatch:       batches{},
			llm.CancelBatch:         batches{},
			llm.GetBatchOutput:      output{},
			llm.CreateFinetune:      newTuning{},
			llm.ListFinetunes:       tunings{},
			llm.RetrieveFinetune:    tunings{},
			llm.CancelFinetune:      tunings{},
			llm.ListModels:          modelList{},
			llm.RetrieveModel:       modelList{},
		},
	}
}
