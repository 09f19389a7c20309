// Package gemini translates requests and responses for Google's models. It covers
// generateContent and its stream, as the Gemini API and Vertex AI use them, and Vertex
// AI's predictions, batches, tuning jobs and files.
//
// Conversations come only from the hub. Callers that use Gemini's own shape use the
// pass-through, so this package has no client side. Start reading at Dialect.
package gemini

import (
	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

// shapeName is the name of this package's shape in llm.Part.Shape and llm.Tool.Shape.
const shapeName = "gemini"

// Dialect is the shape of the Gemini API.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{
		Name:      shapeName,
		Upstreams: upstreams(false),
		Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{
			llm.MessagesCountTokens: countTokens{request: true},
			llm.Embed:               embedContents{},
			llm.ListModels:          models{list: "models", query: "pageSize=1000"},
			llm.RetrieveModel:       oneModel,
		},
	}
}

// Vertex is the shape of Vertex AI. Conversations are as in Dialect. Everything else has
// its own format.
func Vertex() *dialect.Dialect {
	return &dialect.Dialect{
		Name:      "vertex",
		Upstreams: upstreams(true),
		Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{
			llm.MessagesCountTokens: countTokens{},
			llm.Embed:               predictEmbed{},
			llm.ImageGenerate:       imagen{},
			llm.Rerank:              rank{},
			llm.CreateSpeech:        speech{},
			llm.ListModels:          models{list: "publisherModels", query: "pageSize=300"},
			llm.RetrieveModel:       oneModel,
			llm.CreateBatch:         batches{},
			llm.ListBatches:         batches{},
			llm.RetrieveBatch:       batches{},
			llm.CancelBatch:         batches{},
			llm.GetBatchOutput:      batchOutput{},
			llm.CreateFinetune:      tunings{},
			llm.ListFinetunes:       tunings{},
			llm.RetrieveFinetune:    tunings{},
			llm.CancelFinetune:      tunings{},
			llm.UploadFile:          upload{},
			llm.RetrieveFile:        files{},
			llm.RetrieveFileContent: files{},
		},
	}
}

func upstreams(vertex bool) map[llm.Endpoint]dialect.Upstream {
	return map[llm.Endpoint]dialect.Upstream{llm.ChatComplete: generate{vertex}}
}
