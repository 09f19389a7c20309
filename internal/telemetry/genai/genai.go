// Package genai has the words of OpenTelemetry's conventions for generative AI, and what
// they stand for here. Spans that are sent and spans that are taken in speak them.
// Source: OpenTelemetry semantic conventions 1.40.0, gen-ai.
package genai

import (
	"strings"

	"sluice/internal/llm"
)

// SchemaURL is that of the conventions which the names are of.
const SchemaURL = "https://opentelemetry.io/schemas/1.40.0"

// Names of attributes.
const (
	OperationName    = "gen_ai.operation.name"
	ProviderName     = "gen_ai.provider.name"
	System           = "gen_ai.system" // what ProviderName was called before 1.37
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

// operations are the names that the conventions have for endpoints; others go by their own.
var operations = map[llm.Endpoint]string{
	llm.ChatComplete: "chat", llm.Messages: "chat", llm.CreateModelResponse: "chat", llm.Realtime: "chat",
	llm.Complete: "text_completion", llm.Embed: "embeddings",
}

// Operation is the name of what an endpoint does: "chat".
func Operation(ep llm.Endpoint) string {
	if name, ok := operations[ep]; ok {
		return name
	}
	return string(ep)
}

// endpoints are the operations that models are called with.
var endpoints = map[string]llm.Endpoint{
	"chat": llm.ChatComplete, "generate_content": llm.ChatComplete, "text_completion": llm.Complete, "embeddings": llm.Embed,
}

// Endpoint is what an operation is here: chatComplete for "chat". Operations that call no
// model, such as "execute_tool", are none.
func Endpoint(operation string) (ep llm.Endpoint, ok bool) {
	ep, ok = endpoints[operation]
	return ep, ok
}

// providers are the names of the conventions for those that go by another one here, the
// newest first, and the usual one first where a name stands for several.
var providers = []struct{ theirs, local string }{
	{"azure.ai.openai", "azure-openai"}, {"az.ai.openai", "azure-openai"},
	{"azure.ai.inference", "azure-ai"}, {"az.ai.inference", "azure-ai"},
	{"aws.bedrock", "bedrock"}, {"aws.bedrock", "bedrock-mantle"}, {"gcp.vertex_ai", "vertex-ai"}, {"vertex_ai", "vertex-ai"},
	{"gcp.gemini", "google"}, {"gcp.gen_ai", "google"}, {"gemini", "google"},
	{"mistral_ai", "mistral-ai"}, {"x_ai", "x-ai"}, {"xai", "x-ai"}, {"perplexity", "perplexity-ai"},
}

// Provider is how the conventions call a provider of ours: "aws.bedrock" for "bedrock".
func Provider(id string) string {
	for _, p := range providers {
		if p.local == id {
			return p.theirs
		}
	}
	return id
}

// ProviderID is the inverse of Provider, as far as a name stands for one; it knows older names too. Others stay as they
// are, in lower case.
func ProviderID(name string) string {
	name = strings.ToLower(name)
	for _, p := range providers {
		if p.theirs == name {
			return p.local
		}
	}
	return name
}

// SpanName is "chat gpt-4o", as the conventions want it.
func SpanName(ep llm.Endpoint, model string) string {
	return strings.TrimSpace(Operation(ep) + " " + model)
}
