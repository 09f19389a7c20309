// Package stability translates image requests for Stability AI. Version 1 of its API takes
// JSON, and newer models take forms. Callers use OpenAI's shape for both. Start reading at
// Dialect and V1.
package stability

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/images"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Dialect is the shape of /v2beta/stable-image/generate, that provider specs call
// "stability".
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "stability", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{llm.ImageGenerate: form{}}}
}

// V1 is the shape of /v1/generation/{model}/text-to-image, "stability-v1".
func V1() *dialect.Dialect {
	return &dialect.Dialect{Name: "stability-v1", Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{llm.ImageGenerate: artifacts{}}}
}

// image reads an image from a provider's description of it.
func image(raw []byte, data, finish string) images.Item {
	var m images.Item
	for name, val := range jsonedit.Members(raw) {
		switch {
		case jsonedit.IsName(name, data):
			m.Base64 = val
		case jsonedit.IsName(name, "seed"):
			m.Extra = append(m.Extra, llm.Param{Name: "seed", Raw: val})
		case jsonedit.IsName(name, finish):
			m.Extra = append(m.Extra, llm.Param{Name: "finish_reason", Raw: val})
		}
	}
	return m
}
