package cohere

import (
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// readUsage reads {"billed_units":{…},"tokens":{…},"cached_tokens":12}, a member named usage or meta. The
// member tokens counts what the model read and wrote. If it is missing, the billed units replace it. If
// both are present, only the billed units cost something.
// Source: contract/provider-transforms.md 1.3;
// https://docs.cohere.com/docs/how-does-cohere-pricing-work, read 2026-11.
func readUsage(raw []byte) llm.Usage {
	var u llm.Usage
	var billed, tokens []byte
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"billed_units"`:
			billed = val
		case `"tokens"`:
			tokens = val
		case `"cached_tokens"`:
			u.CachedTokens, _ = usage.Count(val)
		}
	}
	u.InputImageTokens = readCount(&u, billed, "image_tokens")
	u.InputTokens = readCount(&u, billed, "input_tokens") + u.InputImageTokens
	u.OutputTokens = readCount(&u, billed, "output_tokens")
	u.SearchUnits = readCount(&u, billed, "search_units")
	if n := readCount(&u, tokens, "input_tokens"); n > 0 {
		u.InputTokens, u.FreeInputTokens = n, free(n, billed, "input_tokens", u.InputTokens)
	}
	if n := readCount(&u, tokens, "output_tokens"); n > 0 {
		u.OutputTokens, u.FreeOutputTokens = n, free(n, billed, "output_tokens", u.OutputTokens)
	}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}

// readCount reads one number. If it is present, readCount marks the usage as reported.
func readCount(u *llm.Usage, raw []byte, name string) int64 {
	val, _ := jsonedit.Find(raw, name)
	n, ok := usage.Count(val)
	u.Reported = u.Reported || ok
	return n
}

// free returns how many of n tokens are not billed: 0 if billed does not contain that name.
func free(n int64, billed []byte, name string, paid int64) int64 {
	if _, found := jsonedit.Find(billed, name); !found {
		return 0
	}
	return max(0, n-paid)
}
