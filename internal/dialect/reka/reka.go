// Package reka translates chat for Reka's first chat API. It supports two speakers that
// alternate, one medium and no streams. Start reading at Dialect.
package reka

import (
	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

// Dialect returns the shape.
// Source: contract/provider-transforms.md 7.8.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "reka", Upstreams: map[llm.Endpoint]dialect.Upstream{llm.ChatComplete: chat{}}}
}
