package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/domain/keys"
	"sluice/internal/gateway"
	"sluice/internal/limits/quota"
)

// Where a cost budget applies, a call is refused that requests work which goes on after its
// answer and which the gateway does not follow.
func TestAsyncWorkIsRefusedUnderACostBudget(t *testing.T) {
	t.Parallel()
	const chat = `"messages":[{"role":"user","content":"x"}],"max_tokens":9`
	for _, c := range []struct {
		provider, path, body, header string
		refused                      bool
	}{
		{"x-ai", "/v1/chat/completions", `{"model":"grok-3",` + chat + `,"deferred":true}`, "", true},
		{"x-ai", "/v1/chat/completions", `{"model":"grok-3",` + chat + `,"deferred":false,"deferred":true}`, "", true},
		{"x-ai", "/v1/chat/completions", `{"model":"grok-3",` + chat + `,"def\u0065rred":"true"}`, "", true},
		{"x-ai", "/v1/chat/completions", `{"model":"grok-3",` + chat + `,"deferred":false}`, "", false},
		{"x-ai", "/v1/chat/completions", `{"model":"grok-3",` + chat + `}`, "", false},
		{"openai", "/v1/openai/responses", `{"model":"gpt-4o-mini","input":"x","max_output_tokens":16,"background":true}`, "", true},
		{"openai", "/v1/openai/responses", `{"model":"gpt-4o-mini","input":"x","max_output_tokens":16,"background":false}`, "", false},
		{"openai", "/v1/responses", `{"model":"gpt-4o-mini","input":"x","max_output_tokens":16,"background":true}`, "", false},
		{"openai", "/v1/images/generations", `{"model":"gpt-image-1","prompt":"x","background":"transparent"}`, "", false},
		{"google", "/v1beta/interactions", `{"model":"gemini-2.5-flash","input":"x","background":true}`, "", true},
		{"google", "/v1beta/interactions", `{"model":"gemini-2.5-flash","input":"x","agent":"deep-research-pro"}`, "", true},
		{"google", "/v1beta/interactions", `{"model":"gemini-2.5-flash","input":"x"}`, "", false},
		{"perplexity-ai", "/v1/async/chat/completions", `{"model":"sonar","request":{"model":"sonar",` + chat + `}}`, "", true},
		{"perplexity-ai", "/v1/proxy/Async/chat/completions", `{"model":"sonar",` + chat + `}`, "", true},
		{"perplexity-ai", "/v1/proxy/async/sonar", `{"model":"sonar",` + chat + `}`, "", true},
		{"dashscope", "/v1/proxy/api/v1/services/aigc/text-generation/generation", `{"model":"qwen-plus","input":{"prompt":"x"}}`, "x-dashscope-async: enable", true},
		{"dashscope", "/v1/proxy/api/v1/services/aigc/text-generation/generation", `{"model":"qwen-plus","input":{"prompt":"x"}}`, "", false},
		{"openai", "/v1/proxy/other", `{"model":"gpt-4o-mini","prompt":"x"}`, "prefer: wait=1, respond-async", true},
		{"openai", "/v1/proxy/other?callback=https%3A%2F%2Fexample.com", `{"model":"gpt-4o-mini","prompt":"x"}`, "", true},
		{"ollama", "/v1/proxy/other", `{"model":"any","prompt":"x","background":true}`, "", false},
	} {
		for _, budgeted := range []bool{true, false} {
			r := newRig(t, func(s *gateway.Settings) { s.AllowUnpriced = false })
			if budgeted {
				r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 1e6)}})
			}
			headers := []string{"x-gateway-provider: " + c.provider, "authorization: Bearer k", "x-gateway-custom-host: " + r.up.URL(), "x-gateway-passthrough: true"}
			if c.header != "" {
				headers = append(headers, c.header)
			}
			a := r.call("POST", c.path, c.body, headers...)
			refused := a.StatusCode == 412 && strings.Contains(a.Text, "usage does not come through the gateway") && len(r.up.Seen()) == 0
			if refused != (c.refused && budgeted) || strings.Contains(a.Text, "has no price") {
				t.Errorf("%s %s %s, budgeted %v: %d %s", c.provider, c.path, c.body, budgeted, a.StatusCode, a.Text)
			}
		}
	}
}
