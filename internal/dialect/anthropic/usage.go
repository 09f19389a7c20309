package anthropic

import (
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// usageOf reads the top-level usage member of a response or an event.
func usageOf(body []byte) llm.Usage {
	u, _ := usage.Read(llm.Messages, body, "")
	raw, _ := jsonedit.Find(body, "usage", "output_tokens_details", "thinking_tokens")
	if n, ok := usage.Count(raw); ok {
		u.ReasoningTokens = n
	}
	return u
}

// writeUsage writes a usage object. Anthropic does not include tokens that were read from the
// cache or written to it in the input tokens.
// Source: contract/provider-transforms.md 1.3, 9.2.
func writeUsage(w *jsonwriter.Writer, u *llm.Usage, extra []llm.Param) {
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

// usageExtras lists the members of Anthropic's usage objects that are not token counts. Callers
// of other surfaces get them as extra members of the response.
var usageExtras = map[string]bool{"cache_creation": true, "server_tool_use": true, "service_tier": true, "inference_geo": true, "speed": true}

// chatTier and anthropicTier convert the name of the tier that served the request: OpenAI
// calls the standard tier "default".
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

// eachUsageExtra calls do for each member of a usage object that usageExtras lists.
func eachUsageExtra(usage []byte, do func(p llm.Param)) {
	r := jsonedit.NewReader(usage)
	for name := range r.Members() {
		if usageExtras[string(name)] && !r.Null() {
			do(chatTier(llm.Param{Name: string(name), Raw: r.Raw()}))
		}
	}
}
