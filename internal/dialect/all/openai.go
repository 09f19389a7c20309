package all

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/responses"
	"sluice/internal/llm"
)

// openAI is OpenAI's shape with both of its conversations: chat completions, and
// responses, which are a shape of their own.
func openAI() *dialect.Dialect {
	d := openai.Dialect()
	d.Clients[llm.CreateModelResponse] = responses.Client()
	d.Upstreams[llm.CreateModelResponse] = responses.Upstream()
	return d
}
