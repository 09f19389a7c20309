package anthropic

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// usageOf reads the usage of an answer or of an event, where it stands at the top.
func usageOf(body []byte) llm.Usage {
	u, _ := dialect.Usage(llm.Messages, body, "")
	raw, _ := splice.Find(body, "usage", "output_tokens_details", "thinking_tokens")
	if n, ok := dialect.Count(raw); ok {
		u.ReasoningTokens = n
	}
	return u
}

// writeUsage writes a usage object. Anthropic counts what was read from the cache and
// written to it beside the input.
// Source: contract/provider-transforms.md 1.3, 9.2.
func writeUsage(w *dialect.JSON, u *llm.Usage, extra []llm.Param) {
	w.Key("usage").Open('{')
	w.Int("input_tokens", max(0, u.InputTokens-u.CachedTokens-u.CacheWriteTokens))
	w.Int("cache_creation_input_tokens", u.CacheWriteTokens)
	w.Int("cache_read_input_tokens", u.CachedTokens)
	w.Int("output_tokens", u.OutputTokens)
	if u.ReasoningTokens > 0 {
		w.Key("output_tokens_details").Open('{')
		w.Int("thinking_tokens", u.ReasoningTokens)
		w.Close('}')
	}
	for i := range extra {
		if p := &extra[i]; usageExtras[p.Name] {
			w.Raw(p.Name, anthropicTier(p))
		}
	}
	w.Close('}')
}

// usageExtras are what Anthropic tells in usage objects beside tokens; whoever is
// answered in another shape gets them as extras of the answer.
var usageExtras = map[string]bool{"cache_creation": true, "server_tool_use": true, "service_tier": true, "inference_geo": true, "speed": true}

// chatTier and anthropicTier exchange the words for the tier that served: OpenAI calls
// the standard one default.
func chatTier(p llm.Param) llm.Param {
	if p.Name == "service_tier" && string(p.Raw) == `"standard"` {
		p.Raw = []byte(`"default"`)
	}
	return p
}

func anthropicTier(p *llm.Param) []byte {
	if p.Name == "service_tier" && string(p.Raw) == `"default"` {
		return []byte(`"standard"`)
	}
	return p.Raw
}

// eachUsageExtra calls do for what a usage object tells beside tokens.
func eachUsageExtra(usage []byte, do func(p llm.Param)) {
	r := splice.NewReader(usage)
	for name := range r.Members() {
		if usageExtras[string(name)] && !r.Null() {
			do(chatTier(llm.Param{Name: string(name), Raw: r.Raw()}))
		}
	}
}
