// Package workersai is the shape that Cloudflare's Workers AI speaks at
// /ai/run/{model}: bodies of its own, and around every whole answer an envelope. Some of
// its models answer inside of that in OpenAI's words.
package workersai

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
)

// Dialect returns the shape.
// Source: contract/provider-transforms.md 7.3.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{
		Name:      "workers-ai",
		Upstreams: map[llm.Endpoint]dialect.Upstream{llm.ChatComplete: chat{}},
		Unified: map[llm.Endpoint]dialect.OpenAIEndpoint{
			llm.Complete: complete{}, llm.Embed: embed{}, llm.ImageGenerate: image{},
		},
	}
}
