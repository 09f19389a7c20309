package catalog_test

import (
	"testing"

	"sluice/internal/limits/catalog"
)

// What calls cost by the built-in prices, worked out by hand from the price lists: tiers,
// modes, regions and all units that are no tokens.
func TestBuiltinBills(t *testing.T) {
	t.Parallel()
	type units = catalog.Units
	c := newCatalog(&clock{}, catalog.Builtin())
	for _, x := range []struct {
		provider, model string
		used            units
		nano            int64
	}{
		// Long prompts: xAI begins at the limit, the others above it.
		{"openai", "gpt-5.4", units{Input: 271_999}, 679_997_500},
		{"openai", "gpt-5.4", units{Input: 272_000}, 680_000_000},
		{"openai", "gpt-5.4", units{Input: 272_001}, 1_360_005_000},
		{"azure-openai", "gpt-5-nano", units{CacheRead: 1000}, 5_000},
		{"google", "gemini-2.5-pro", units{Execution: catalog.Priority, Input: 1000, Output: 1000}, 20_250_000},
		{"google", "gemini-2.5-pro", units{Execution: catalog.Priority, Input: 200_001}, 900_004_500},
		{"google", "gemini-2.5-flash", units{Execution: catalog.Flex, Input: 1000, Output: 1000}, 1_400_000},
		{"vertex-ai", "gemini-3.1-pro-preview", units{Execution: catalog.Priority, Input: 1000, CacheRead: 1000, Output: 1000}, 25_560_000},
		{"azure-openai", "gpt-5.4", units{Input: 272_000}, 680_000_000},
		{"azure-openai", "gpt-5.4", units{Input: 272_001, Output: 1000}, 1_382_505_000},
		{"azure-openai", "gpt-6-astra", units{Execution: catalog.Batch, Input: 272_001}, 2_720_010_000},
		{"bedrock", "openai.gpt-6-astra", units{Input: 272_001}, 5_984_022_000},
		{"vertex-ai", "xai/grok-4.6", units{Input: 200_001}, 800_004_000},
		{"databricks", "databricks-gemini-2-5-pro", units{Input: 200_001}, 500_002_500},
		{"openai", "gpt-6-sol", units{Input: 272_000}, 544_000_000},
		{"openai", "gpt-6-sol", units{Input: 272_001}, 1_088_004_000},
		{"x-ai", "grok-4.6", units{Input: 199_999}, 399_998_000},
		{"x-ai", "grok-4.6", units{Input: 200_000}, 800_000_000},
		{"google", "gemini-2.5-pro", units{Input: 200_000}, 250_000_000},
		{"vertex-ai", "gemini-2.5-pro", units{Input: 200_001}, 500_002_500},
		{"dashscope", "qwen3-coder-plus", units{Input: 128_001}, 384_003_000},
		{"minimax", "MiniMax-M3", units{Input: 512_001, Output: 1000}, 309_600_600},

		// Waiting and haste.
		{"openai", "gpt-5.4", units{Execution: catalog.Batch, Input: 300_000}, 750_000_000},
		{"openai", "gpt-5.4", units{Execution: catalog.Priority, Input: 1000, Output: 1000}, 35_000_000},
		{"openai", "gpt-5-mini", units{Execution: catalog.Priority, Input: 1000, CacheRead: 1000, Output: 1000}, 4_095_000},
		{"google", "gemini-2.5-pro", units{Execution: catalog.Batch, Input: 1000, CacheRead: 1000}, 750_000},
		{"google", "gemini-2.5-flash", units{Execution: catalog.Flex, CacheRead: 1000, AudioCacheRead: 1000}, 130_000},
		{"google", "gemini-3.8-flash", units{Execution: catalog.Flex, CacheRead: 1000}, 37_500},
		{"azure-openai", "gpt-5-mini", units{Execution: catalog.Priority, Input: 1000, CacheRead: 1000, Output: 1000}, 4_095_000},
		{"azure-openai", "gpt-5.5", units{Execution: catalog.Priority, Input: 1000, Output: 1000}, 87_500_000},
		{"bedrock", "amazon.nova-pro-v1:0", units{Execution: catalog.Priority, Input: 1000, Output: 1000}, 7_000_000},
		{"bedrock", "us.amazon.nova-pro-v1:0", units{Execution: catalog.Flex, Input: 1000, Output: 1000}, 2_000_000},
		{"bedrock", "openai.gpt-oss-120b-1:0", units{Execution: catalog.Flex, Input: 1000, Output: 1000}, 375_000},
		{"bedrock", "minimax.minimax-m2.5", units{Region: "eu-west-1", Execution: catalog.Priority, Output: 1000}, 2_520_000},
		{"bedrock", "anthropic.claude-opus-4-8", units{Execution: "reserved", Input: 1000}, 5_500_000},
		{"x-ai", "grok-4.7", units{Execution: catalog.Priority, Input: 200_000, Output: 1000}, 1_624_000_000},
		{"x-ai", "grok-4.3", units{Execution: catalog.Batch, Input: 1000, Output: 1000}, 3_000_000},
		{"fireworks-ai", "accounts/fireworks/models/kimi-k3", units{Execution: catalog.Priority, Input: 1000, CacheRead: 1000, Output: 1000}, 22_875_000},
		{"anthropic", "claude-opus-5-5", units{Execution: catalog.Fast, Input: 1000, CacheRead: 1000, CacheWrite1h: 1000, Output: 1000}, 64_400_000},
		{"anthropic", "claude-opus-5-5", units{Region: "us", Execution: catalog.Fast, Output: 1000}, 44_000_000},
		{"openai", "o3", units{Execution: catalog.Flex, Input: 1000, Output: 1000}, 5_000_000},
		{"openai", "text-embedding-3-small", units{Execution: catalog.Batch, Input: 1_000_000}, 10_000_000},
		{"anthropic", "claude-opus-4-8", units{Execution: catalog.Fast, Input: 1000, Output: 1000}, 60_000_000},
		{"anthropic", "claude-haiku-4-5", units{Execution: catalog.Batch, Input: 1000, CacheWrite1h: 1000, Output: 1000}, 4_000_000},

		// Caches and searches.
		{"anthropic", "claude-opus-4-5", units{CacheWrite1h: 1000, CacheWrite5m: 1000, CacheRead: 1000, Searches: 2}, 36_750_000},
		{"openai", "gpt-4o", units{Execution: catalog.Batch, Input: 1000, Searches: 1}, 11_250_000},
		{"perplexity-ai", "sonar", units{Input: 1000, Output: 1000, Searches: 1, SearchContext: "high"}, 14_000_000},
		{"perplexity-ai", "sonar-deep-research", units{Reasoning: 1000, Citation: 1000, Searches: 1}, 10_000_000},
		{"cohere", "rerank-v3.5", units{Searches: 3}, 6_000_000},

		{"anthropic", "claude-sonnet-5-5", units{Input: 1000, CacheRead: 1000, CacheWrite5m: 1000, CacheWrite1h: 1000, Output: 1000, Searches: 1}, 28_600_000},
		{"anthropic", "claude-haiku-5-5", units{Input: 100_000, Output: 1000}, 10_500_000},
		{"anthropic", "claude-haiku-5-5", units{Input: 90_000, CacheRead: 10_001, Output: 1000}, 48_000_050},
		{"anthropic", "claude-haiku-5-5", units{Execution: catalog.Batch, Input: 1000, CacheWrite1h: 1000}, 150_000},

		// Where it is served.
		{"anthropic", "claude-opus-4-8", units{Region: "us", Input: 1000, CacheRead: 1000, CacheWrite5m: 1000, CacheWrite1h: 1000, Output: 1000}, 51_425_000},
		{"anthropic", "claude-opus-4-8", units{Region: "us", Execution: catalog.Fast, Input: 1000, Searches: 1}, 21_000_000},
		{"anthropic", "claude-opus-5-5", units{Region: "us", Execution: catalog.Batch, Output: 1000}, 11_000_000},
		{"anthropic", "claude-opus-4-5", units{Region: "us", Input: 1000}, 5_000_000},
		{"claude-platform-aws", "claude-sonnet-4-6", units{Region: "us", Input: 1000}, 3_300_000},
		{"claude-platform-aws", "claude-sonnet-4-6", units{Region: "us-east-1", Input: 1000}, 3_000_000},
		{"vertex-ai", "claude-sonnet-4-5@20250929", units{Region: "europe-west1", Input: 1000}, 3_300_000},
		{"vertex-ai", "claude-sonnet-4-5@20250929", units{Region: "global", Input: 1000}, 3_000_000},
		{"bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", units{Input: 1000}, 3_300_000},
		{"bedrock", "global.anthropic.claude-sonnet-4-5-20250929-v1:0", units{Input: 1000}, 3_000_000},
		{"bedrock", "meta.llama3-8b-instruct-v1:0", units{Region: "sa-east-1", Input: 1000}, 500_000},
		{"bedrock", "meta.llama3-8b-instruct-v1:0", units{Region: "us-east-1", Input: 1000}, 300_000},
		{"bedrock", "minimax.minimax-m2.5", units{Region: "eu-west-1", Output: 1000}, 1_440_000},

		// Sound, pictures and pages.
		{"google", "gemini-2.5-flash", units{Input: 1000, AudioInput: 1000}, 1_300_000},
		{"openai", "gpt-realtime", units{AudioInput: 1000, AudioCacheRead: 1000, AudioOutput: 1000}, 96_400_000},
		{"openai", "whisper-1", units{AudioMilli: 90_000}, 9_000_000},
		{"groq", "whisper-large-v3", units{AudioMilli: 3_600_000}, 111_000_000},
		{"openai", "tts-1", units{Characters: 1000}, 15_000_000},
		{"openai", "gpt-image-1", units{Input: 100, ImageInput: 100, ImageOutput: 4000}, 161_500_000},
		{"openai", "dall-e-3", units{Images: []catalog.Images{{Quality: "hd", Size: "1024x1792", Count: 2}}}, 240_000_000},
		{"openai", "dall-e-3", units{Images: []catalog.Images{{Count: 1}}}, 40_000_000},
		{"stability-ai", "ultra", units{Images: []catalog.Images{{Size: "1024x1024", Count: 1}}}, 80_000_000},
		{"bedrock", "amazon.nova-canvas-v1:0", units{Images: []catalog.Images{{Quality: "premium", Size: "2048x2048", Count: 1}}}, 80_000_000},
		{"mistral-ai", "mistral-ocr-latest", units{Other: []catalog.Other{{Name: "pages", Count: 10}}}, 40_000_000},
		{"openai", "sora-2", units{Other: []catalog.Other{{Name: "video_seconds", Count: 8}}}, 800_000_000},
	} {
		got := c.Tariff(t.Context(), x.provider, x.model).Cost(&x.used, nil)
		if got.Cost != x.nano || !got.Priced() {
			t.Errorf("%s %s, %+v: %d nano-dollars, want %d: %+v", x.provider, x.model, x.used, got.Cost, x.nano, got)
		}
	}
}
