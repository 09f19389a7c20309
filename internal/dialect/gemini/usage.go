package gemini

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// readUsage reads usageMetadata. Gemini counts thoughts beside the answer, and what its
// tools brought beside the prompt; the hub counts both inside, so that the sum is the
// total.
// Source: contract/provider-transforms.md 1.3;
// https://ai.google.dev/api/generate-content#UsageMetadata, read 2026-11.
func readUsage(raw []byte) llm.Usage {
	var u llm.Usage
	var tools, answer int64
	for name, val := range splice.Members(raw) {
		switch string(name) {
		case `"promptTokenCount"`:
			u.InputTokens = count(val)
		case `"toolUsePromptTokenCount"`:
			tools = count(val)
		case `"candidatesTokenCount"`:
			answer = count(val)
		case `"thoughtsTokenCount"`:
			u.ReasoningTokens = count(val)
		case `"totalTokenCount"`:
			u.TotalTokens = count(val)
		case `"cachedContentTokenCount"`:
			u.CachedTokens = count(val)
		case `"serviceTier"`, `"trafficType"`:
			u.Tier = dialect.Tier(val)
			continue
		case `"promptTokensDetails"`:
			u.InputAudioTokens = modality(val, `"AUDIO"`)
			u.InputImageTokens = modality(val, `"IMAGE"`)
		case `"candidatesTokensDetails"`:
			u.OutputAudioTokens = modality(val, `"AUDIO"`)
			u.OutputImageTokens = modality(val, `"IMAGE"`)
		default:
			continue
		}
		u.Reported = true
	}
	u.InputTokens += tools
	u.OutputTokens = answer + u.ReasoningTokens
	return u
}

// modality sums what a list says of one modality: [{"modality":"AUDIO","tokenCount":9}].
func modality(list []byte, want string) (sum int64) {
	for e := range splice.Elements(list) {
		kind, _ := splice.Find(e, "modality")
		tokens, _ := splice.Find(e, "tokenCount")
		if string(kind) == want {
			sum += count(tokens)
		}
	}
	return sum
}

// count reads a number of tokens; what is none counts 0.
func count(raw []byte) int64 {
	n, _ := dialect.Count(raw)
	return n
}
