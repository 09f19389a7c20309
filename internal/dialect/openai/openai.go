// Package openai is the shape that OpenAI's API speaks and most providers follow: which
// requests cannot be sent to anybody, and how what a target asks for becomes edits of
// the caller's bytes. Unknown fields are forwarded, defaults and ranges stay with the
// provider.
package openai

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
)

// Dialect returns the shape. Providers whose specs say "openai" or "openai+" speak it;
// those with a plus bring rules.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{
		Name: "openai", Check: Check, CheckForm: CheckForm, Shape: Shape, ShapeForm: ShapeForm,
		Clients:   map[llm.Endpoint]dialect.Client{llm.ChatComplete: chat{}},
		Upstreams: map[llm.Endpoint]dialect.Upstream{llm.ChatComplete: chat{}},
	}
}
