// Package openai implements the shape of OpenAI's API, which most providers follow. It refuses
// requests that no provider can serve, and turns the settings of a target into edits of the
// caller's bytes. Unknown fields are forwarded, and defaults and ranges are left to the
// provider. Start reading at Dialect.
package openai

import (
	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

// Dialect returns the shape. Providers whose specs contain "openai" or "openai+" use it.
// Those with a plus add rules.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{
		Name: "openai", Check: Check, CheckForm: CheckForm, Shape: Shape, ShapeForm: ShapeForm,
		Clients:   map[llm.Endpoint]dialect.Client{llm.ChatComplete: chat{}},
		Upstreams: map[llm.Endpoint]dialect.Upstream{llm.ChatComplete: chat{}},
	}
}
