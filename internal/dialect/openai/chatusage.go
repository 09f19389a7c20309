package openai

import (
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/llm"
)

// writeUsage writes the usage object of chat completions. Cache counters that OpenAI does
// not have follow under Anthropic's names. Image tokens, if there are any, follow under
// xAI's name for them.
// Source: contract/provider-transforms.md 1.3.
func writeUsage(w *jsonwriter.Writer, u *llm.Usage) {
	w.Key("usage").Open('{')
	w.Int("prompt_tokens", u.InputTokens)
	w.Int("completion_tokens", u.OutputTokens)
	w.Int("total_tokens", total(u))
	w.Key("prompt_tokens_details").Open('{')
	w.Int("cached_tokens", u.CachedTokens)
	w.Int("audio_tokens", u.InputAudioTokens)
	w.Some("image_tokens", u.InputImageTokens)
	w.Close('}')
	w.Key("completion_tokens_details").Open('{')
	w.Int("reasoning_tokens", u.ReasoningTokens)
	w.Int("audio_tokens", u.OutputAudioTokens)
	w.Some("image_tokens", u.OutputImageTokens)
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
