// Package bytez implements the dialect of Bytez' own chat API, whose streams contain only the
// text. Start reading at Dialect.
package bytez

import (
	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

// Dialect returns the dialect for Bytez.
// Source: contract/provider-transforms.md 7.16.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{Name: "bytez", Upstreams: map[llm.Endpoint]dialect.Upstream{llm.ChatComplete: chat{}}}
}
