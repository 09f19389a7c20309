// Package oracle translates chat for Oracle's Generative AI inference service. It covers the
// generic format, for the models of Meta, xAI, Google and OpenAI that Oracle hosts, and the
// formats of Cohere's models. Start reading at Dialect.
//
// Conversations come only from the hub. Callers that use Oracle's own shape use the
// pass-through.
// Source: https://docs.oracle.com/iaas/api/#/en/generative-ai-inference/20231130/ChatResult/Chat,
// read 2026-11; contract/provider-transforms.md 7.13.
package oracle

import (
	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

// Dialect is the shape that provider specs call "oracle".
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{
		Name:      "oracle",
		Upstreams: map[llm.Endpoint]dialect.Upstream{llm.ChatComplete: chat{}},
	}
}

// chat is the provider's side of POST /20231130/actions/chat.
type chat struct{}

var _ dialect.Upstream = chat{}
