package gemini

import (
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// readUsage reads usageMetadata. Gemini counts reasoning tokens separately from the output,
// and tokens from its tools separately from the prompt. The hub includes both, so that
// input and output add up to the total.
// Source: contract/provider-transforms.md 1.3;
// https://ai.google.dev/api/generate-content#UsageMetadata, read 2026-11.
func readUsage(raw []byte) llm.Usage {
	var u llm.Usage
	var tools, candidates int64
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"promptTokenCount"`:
			u.InputTokens = count(val)
		case `"toolUsePromptTokenCount"`:
			tools = count(val)
		case `"candidatesTokenCount"`:
			candidates = count(val)
		case `"thoughtsTokenCount"`:
			u.ReasoningTokens = count(val)
		case `"totalTokenCount"`:
			u.TotalTokens = count(val)
		case `"cachedContentTokenCount"`:
			u.CachedTokens = count(val)
		case `"serviceTier"`, `"trafficType"`:
			u.Tier = usage.Tier(val)
			continue
		case `"promptTokensDetails"`:
			u.InputAudioTokens = usage.Modality(val, "AUDIO")
			u.InputImageTokens = usage.Modality(val, "IMAGE")
		case `"cacheTokensDetails"`:
			u.CachedAudioTokens = usage.Modality(val, "AUDIO")
			u.CachedImageTokens = usage.Modality(val, "IMAGE")
		case `"candidatesTokensDetails"`:
			u.OutputAudioTokens = usage.Modality(val, "AUDIO")
			u.OutputImageTokens = usage.Modality(val, "IMAGE")
		default:
			continue
		}
		u.Reported = true
	}
	u.InputTokens += tools
	u.OutputTokens = candidates + u.ReasoningTokens
	return u
}

// count reads a number of tokens. A value that is not a number counts as 0.
func count(raw []byte) int64 {
	n, _ := usage.Count(raw)
	return n
}
