// Package gemini is the shape of Google's models: generateContent and its stream, as
// the Gemini API and Vertex AI speak it, and Vertex AI's predictions, batches, tuning
// jobs and files.
//
// Conversations come from the hub alone; callers who speak Gemini's own shape use the
// pass-through, so there is no client side.
package gemini

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
)

// shapeName is what this package calls its own form in llm.Part.Shape and llm.Tool.Shape.
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

// Vertex is the shape of Vertex AI: conversations as in Dialect, all else in forms of
// its own.
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
