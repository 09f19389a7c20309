// Package anthropic is the shape of Anthropic's Messages API, from both sides: callers
// of /messages are read and answered in it, and Claude is asked in it wherever it is
// served. Text completions, batches and files of the provider are put into OpenAI's
// shape here too.
package anthropic

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// shapeName is what this package calls its own form in llm.Part.Shape and
// llm.Tool.Shape; chatShape is what package openai calls the form of chat completions.
const (
	shapeName = "anthropic"
	chatShape = "openai"
)

// Dialect is the shape. Callers who count tokens reach a provider that speaks it in
// their own words.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{
		Name:      shapeName,
		Clients:   map[llm.Endpoint]dialect.Client{llm.Messages: messages{}},
		Upstreams: map[llm.Endpoint]dialect.Upstream{llm.ChatComplete: messages{}, llm.Messages: messages{}},
		Unified:   unified(),
	}
}

// messages is the shape of POST /v1/messages, from both sides.
// Source: https://platform.claude.com/docs/en/api/messages/create, read 2026-11;
// contract/provider-transforms.md 2 and 9.
type messages struct{}

var (
	_ dialect.Client   = messages{}
	_ dialect.Upstream = messages{}
)

// plainName is a name of splice.Members without quotes and escapes.
func plainName(raw []byte) string {
	s, _ := splice.Unquote(raw)
	return s
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }
func isList(raw []byte) bool   { return len(raw) > 0 && raw[0] == '[' }

var null = []byte("null")
