// Package workersai translates requests for Cloudflare's Workers AI at /ai/run/{model}. The
// API has its own bodies, and an envelope around every buffered response. Some models use
// OpenAI's format inside the envelope. Start reading at Dialect.
package workersai

import (
	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
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
