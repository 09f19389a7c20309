package genai_test

import (
	"testing"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"

	"sluice/internal/llm"
	"sluice/internal/telemetry/genai"
)

func TestNamesOfProviders(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"openai", "azure-openai", "bedrock", "vertex-ai", "google", "mistral-ai", "x-ai", "perplexity-ai", "groq"} {
		if got := genai.ProviderID(genai.Provider(id)); got != id {
			t.Errorf("%s comes back as %s", id, got)
		}
	}
	for name, want := range map[string]string{"OpenAI": "openai", "az.ai.openai": "azure-openai", "vertex_ai": "vertex-ai"} {
		if got := genai.ProviderID(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// What is sent has the names of the conventions, as they are published.
func TestNamesOfTheConventions(t *testing.T) {
	t.Parallel()
	for local, theirs := range map[string]attribute.Key{
		genai.OperationName: semconv.GenAIOperationNameKey, genai.ProviderName: semconv.GenAIProviderNameKey, genai.RequestModel: semconv.GenAIRequestModelKey,
		genai.ResponseModel: semconv.GenAIResponseModelKey, genai.InputTokens: semconv.GenAIUsageInputTokensKey, genai.OutputTokens: semconv.GenAIUsageOutputTokensKey,
		genai.CacheReadTokens: semconv.GenAIUsageCacheReadInputTokensKey, genai.CacheWriteTokens: semconv.GenAIUsageCacheCreationInputTokensKey,
		genai.PromptName: semconv.GenAIPromptNameKey, genai.ErrorType: semconv.ErrorTypeKey, genai.HTTPMethod: semconv.HTTPRequestMethodKey,
		genai.HTTPStatus: semconv.HTTPResponseStatusCodeKey, genai.ServerAddress: semconv.ServerAddressKey, genai.ServerPort: semconv.ServerPortKey,
		genai.ServiceName: semconv.ServiceNameKey, genai.UserID: semconv.UserIDKey,
	} {
		if local != string(theirs) {
			t.Errorf("%s is called %s", local, theirs)
		}
	}
	for id, theirs := range map[string]attribute.KeyValue{
		"openai": semconv.GenAIProviderNameOpenAI, "azure-openai": semconv.GenAIProviderNameAzureAIOpenAI, "azure-ai": semconv.GenAIProviderNameAzureAIInference,
		"bedrock": semconv.GenAIProviderNameAWSBedrock, "bedrock-mantle": semconv.GenAIProviderNameAWSBedrock, "vertex-ai": semconv.GenAIProviderNameGCPVertexAI,
		"google": semconv.GenAIProviderNameGCPGemini, "anthropic": semconv.GenAIProviderNameAnthropic, "cohere": semconv.GenAIProviderNameCohere,
		"perplexity-ai": semconv.GenAIProviderNamePerplexity, "x-ai": semconv.GenAIProviderNameXAI, "deepseek": semconv.GenAIProviderNameDeepseek,
		"groq": semconv.GenAIProviderNameGroq, "mistral-ai": semconv.GenAIProviderNameMistralAI,
	} {
		if got := genai.Provider(id); got != theirs.Value.AsString() {
			t.Errorf("%s is sent as %s, want %s", id, got, theirs.Value.AsString())
		}
	}
	if genai.SchemaURL != semconv.SchemaURL {
		t.Errorf("the names are of %s", semconv.SchemaURL)
	}
}

func TestNamesOfOperations(t *testing.T) {
	t.Parallel()
	for ep, want := range map[llm.Endpoint]string{llm.Messages: "chat", llm.Embed: "embeddings", llm.ImageGenerate: "imageGenerate"} {
		if got := genai.Operation(ep); got != want {
			t.Errorf("%s is %s, want %s", ep, got, want)
		}
	}
	if ep, ok := genai.Endpoint("execute_tool"); ok {
		t.Errorf("a tool is called at %s", ep)
	}
	if got := genai.SpanName(llm.ChatComplete, "gpt-4o"); got != "chat gpt-4o" {
		t.Error(got)
	}
}
