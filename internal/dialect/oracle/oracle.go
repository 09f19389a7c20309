// Package oracle is the shape of Oracle's Generative AI inference service: its generic
// chat, in which the models of Meta, xAI, Google and OpenAI that Oracle hosts are asked, and
// the form that Cohere's have.
//
// Conversations come from the hub alone; callers who speak Oracle's own shape use the
// pass-through.
// Source: https://docs.oracle.com/iaas/api/#/en/generative-ai-inference/20231130/ChatResult/Chat,
// read 2026-11; contract/provider-transforms.md 7.13.
package oracle

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
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
