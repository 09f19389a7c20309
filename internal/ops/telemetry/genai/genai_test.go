package genai_test

import (
	"testing"

	"sluice/internal/kernel/llm"
	"sluice/internal/ops/telemetry/genai"
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
