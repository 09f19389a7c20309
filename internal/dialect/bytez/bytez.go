// Package bytez is the shape of Bytez' own chat API, whose streams are nothing but the
// text.
package bytez

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
)

// Dialect returns the shape.
// Source: contract/provider-transforms.md 7.16.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "bytez", Upstreams: map[llm.Endpoint]dialect.Upstream{llm.ChatComplete: chat{}}}
}
