// Package genai contains the names of OpenTelemetry's conventions for generative AI, and maps
// them to the gateway's names. Exported and received spans both use them.
// Source: OpenTelemetry semantic conventions 1.40.0, gen-ai.
package genai

import (
	"strings"

	"sluice/internal/kernel/llm"
)

// SchemaURL is the URL of the conventions that define the names.
const SchemaURL = "https://opentelemetry.io/schemas/1.40.0"

// Names of attributes.
const (
	OperationName    = "gen_ai.operation.name"
	ProviderName     = "gen_ai.provider.name"
	System           = "gen_ai.system" // name of ProviderName before 1.37
	RequestModel     = "gen_ai.request.model"
	ResponseModel    = "gen_ai.response.model"
	InputTokens      = "gen_ai.usage.input_tokens"
	OutputTokens     = "gen_ai.usage.output_tokens"
	PromptTokens     = "gen_ai.usage.prompt_tokens"     // InputTokens before 1.27
	CompletionTokens = "gen_ai.usage.completion_tokens" // OutputTokens before 1.27
	CacheReadTokens  = "gen_ai.usage.cache_read.input_tokens"
	CacheWriteTokens = "gen_ai.usage.cache_creation.input_tokens"
	PromptName       = "gen_ai.prompt.name"
	ErrorType        = "error.type"
	HTTPMethod       = "http.request.method"
	HTTPStatus       = "http.response.status_code"
	ServerAddress    = "server.address"
	ServerPort       = "server.port"
	ServiceName      = "service.name"
	UserID           = "user.id"
)

// operations maps endpoints to names of the conventions; other endpoints use their own names.
var operations = map[llm.Endpoint]string{
	llm.ChatComplete: "chat", llm.Messages: "chat", llm.CreateModelResponse: "chat", llm.Realtime: "chat",
	llm.Complete: "text_completion", llm.Embed: "embeddings",
}

// Operation returns the operation name of an endpoint: "chat".
func Operation(ep llm.Endpoint) string {
	if name, ok := operations[ep]; ok {
		return name
	}
	return string(ep)
}

// endpoints maps the operations that call models to endpoints.
var endpoints = map[string]llm.Endpoint{
	"chat": llm.ChatComplete, "generate_content": llm.ChatComplete, "text_completion": llm.Complete, "embeddings": llm.Embed,
}

// Endpoint returns the endpoint of an operation: chatComplete for "chat". Operations that call no
// model, such as "execute_tool", have no endpoint.
func Endpoint(operation string) (ep llm.Endpoint, ok bool) {
	ep, ok = endpoints[operation]
	return ep, ok
}

// providers maps names of the conventions to different local names, the newest first, and the
// most common one first if a name has several.
var providers = []struct{ theirs, local string }{
	{"azure.ai.openai", "azure-openai"}, {"az.ai.openai", "azure-openai"},
	{"azure.ai.inference", "azure-ai"}, {"az.ai.inference", "azure-ai"},
	{"aws.bedrock", "bedrock"}, {"aws.bedrock", "bedrock-mantle"}, {"gcp.vertex_ai", "vertex-ai"}, {"vertex_ai", "vertex-ai"},
	{"gcp.gemini", "google"}, {"gcp.gen_ai", "google"}, {"gemini", "google"},
	{"mistral_ai", "mistral-ai"}, {"x_ai", "x-ai"}, {"xai", "x-ai"}, {"perplexity", "perplexity-ai"},
}

// Provider returns the conventions' name of a provider: "aws.bedrock" for "bedrock".
func Provider(id string) string {
	for _, p := range providers {
		if p.local == id {
			return p.theirs
		}
	}
	return id
}

// ProviderID is the inverse of Provider, if a name is unambiguous; it also accepts older names.
// Other names are returned in lower case.
func ProviderID(name string) string {
	name = strings.ToLower(name)
	for _, p := range providers {
		if p.theirs == name {
			return p.local
		}
	}
	return name
}

// SpanName returns a span name of the conventions: "chat gpt-4o".
func SpanName(ep llm.Endpoint, model string) string {
	return strings.TrimSpace(Operation(ep) + " " + model)
}
