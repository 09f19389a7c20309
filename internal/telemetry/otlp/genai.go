package otlp

import (
	"strings"

	"sluice/internal/llm"
)

// Names of the attributes.
// Source: OpenTelemetry semantic conventions 1.40.0, gen-ai, http, server and error.
const (
	genOperation      = "gen_ai.operation.name"
	genProvider       = "gen_ai.provider.name"
	genRequestModel   = "gen_ai.request.model"
	genResponseModel  = "gen_ai.response.model"
	genInputTokens    = "gen_ai.usage.input_tokens"
	genOutputTokens   = "gen_ai.usage.output_tokens"
	genCacheRead      = "gen_ai.usage.cache_read.input_tokens"
	genCacheWrite     = "gen_ai.usage.cache_creation.input_tokens"
	genPromptName     = "gen_ai.prompt.name"
	serverAddress     = "server.address"
	serverPort        = "server.port"
	errorType         = "error.type"
	httpMethod        = "http.request.method"
	httpStatus        = "http.response.status_code"
	urlPath           = "url.path"
	clientAddress     = "client.address"
	prefix            = "sluice." // of what the conventions have no name for
	conventionsSchema = "https://opentelemetry.io/schemas/1.40.0"
)

// operations are the names that the conventions have for endpoints; others go by their own.
var operations = map[llm.Endpoint]string{
	llm.ChatComplete: "chat", llm.Messages: "chat", llm.CreateModelResponse: "chat", llm.Realtime: "chat",
	llm.Complete: "text_completion", llm.Embed: "embeddings",
}

// operation is the name of what an endpoint does: "chat".
func operation(ep llm.Endpoint) string {
	if name, ok := operations[ep]; ok {
		return name
	}
	return string(ep)
}

// providers are the names that the conventions have for ours; others go by their own.
var providers = map[string]string{
	"azure-openai": "azure.ai.openai", "azure-ai": "azure.ai.inference", "bedrock": "aws.bedrock", "bedrock-mantle": "aws.bedrock",
	"vertex-ai": "gcp.vertex_ai", "google": "gcp.gemini", "mistral-ai": "mistral_ai", "x-ai": "x_ai", "perplexity-ai": "perplexity",
}

// provider is the name of a provider: "aws.bedrock".
func provider(id string) string {
	if name, ok := providers[id]; ok {
		return name
	}
	return id
}

// spanName is "chat gpt-4o", as the conventions want it.
func spanName(ep llm.Endpoint, model string) string {
	return strings.TrimSpace(operation(ep) + " " + model)
}
