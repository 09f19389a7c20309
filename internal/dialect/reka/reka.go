// Package reka is the shape of Reka's first chat API: a conversation of two that take
// turns, one medium, no streams.
package reka

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
)

// Dialect returns the shape.
// Source: contract/provider-transforms.md 7.8.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "reka", Upstreams: map[llm.Endpoint]dialect.Upstream{llm.ChatComplete: chat{}}}
}
