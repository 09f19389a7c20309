// Package anthropic implements the dialect of Anthropic's Messages API in both directions: for
// callers of /messages, and for providers that serve Claude. It also translates the provider's
// text completions, batches and files into OpenAI's format. Start reading at Dialect.
package anthropic

import (
	"sluice/internal/dialect"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// shapeName is the name of this package's format in llm.Part.Shape and llm.Tool.Shape.
// chatShape is the name that package openai uses for the format of chat completions.
const (
	shapeName = "anthropic"
	chatShape = "openai"
)

// Dialect returns the dialect. Token-count requests are forwarded in the caller's own format to
// a provider with this dialect.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{
		Name:      shapeName,
		Clients:   map[llm.Endpoint]dialect.Client{llm.Messages: messages{}},
		Upstreams: map[llm.Endpoint]dialect.Upstream{llm.ChatComplete: messages{}, llm.Messages: messages{}},
		Unified:   unified(),
	}
}

// messages implements POST /v1/messages, for callers and for upstreams.
// Source: https://platform.claude.com/docs/en/api/messages/create, read 2026-11;
// contract/provider-transforms.md 2 and 9.
type messages struct{}

var (
	_ dialect.Client   = messages{}
	_ dialect.Upstream = messages{}
)

// plainName returns a name of jsonedit.Members without quotes and escapes.
func plainName(raw []byte) string {
	s, _ := jsonedit.Unquote(raw)
	return s
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }
func isList(raw []byte) bool   { return len(raw) > 0 && raw[0] == '[' }

var null = []byte("null")
