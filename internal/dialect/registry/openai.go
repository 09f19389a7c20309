package registry

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/responses"
	"sluice/internal/kernel/llm"
)

// openAI returns the OpenAI dialect with both of its conversation endpoints: chat completions,
// and responses, which have a format of their own.
func openAI() *dialect.Dialect {
	d := openai.Dialect()
	d.Clients[llm.CreateModelResponse] = responses.Client()
	d.Upstreams[llm.CreateModelResponse] = responses.Upstream()
	return d
}
