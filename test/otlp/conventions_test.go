package otlp_test

import (
	"testing"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"

	"sluice/internal/ops/telemetry/genai"
)

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
