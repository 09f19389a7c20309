package openai

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
)

// writeUsage writes the usage object of chat completions. The cache counters that
// OpenAI does not have stand beside it under Anthropic's names.
// Source: contract/provider-transforms.md 1.3.
func writeUsage(w *dialect.JSON, u *llm.Usage) {
	w.Key("usage").Open('{')
	w.Int("prompt_tokens", u.InputTokens)
	w.Int("completion_tokens", u.OutputTokens)
	w.Int("total_tokens", total(u))
	w.Key("prompt_tokens_details").Open('{')
	w.Int("cached_tokens", u.CachedTokens)
	w.Int("audio_tokens", u.InputAudioTokens)
	w.Close('}')
	w.Key("completion_tokens_details").Open('{')
	w.Int("reasoning_tokens", u.ReasoningTokens)
	w.Int("audio_tokens", u.OutputAudioTokens)
	w.Close('}')
	if u.CachedTokens != 0 || u.CacheWriteTokens != 0 {
		w.Int("cache_read_input_tokens", u.CachedTokens)
		w.Int("cache_creation_input_tokens", u.CacheWriteTokens)
	}
	w.Close('}')
}

func total(u *llm.Usage) int64 {
	if u.TotalTokens != 0 {
		return u.TotalTokens
	}
	return u.InputTokens + u.OutputTokens
}
