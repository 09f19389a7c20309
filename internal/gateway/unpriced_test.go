package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/keys"
	"sluice/internal/gateway"
	"sluice/internal/limits/quota"
	"sluice/internal/test/upstream"
)

// TestUnpricedModelsAreRefused: where a cost budget applies, a call whose cost nobody knows
// is not sent, on every route that has a model work.
func TestUnpricedModelsAreRefused(t *testing.T) {
	t.Parallel()
	chat := func(model string) string { return strings.Replace(capped, "gpt-4o-mini", model, 1) }
	openai, ollama := "openai", "ollama"
	for _, c := range []struct {
		name, provider, path, body string
		headers                    []string
		refused                    bool
	}{
		{"a chat", openai, "/v1/chat/completions", chat("gpt-none"), nil, true},
		{"a chat with a price", openai, "/v1/chat/completions", chat("gpt-4o-mini"), nil, false},
		{"a response", openai, "/v1/responses", `{"model":"gpt-none","input":"x","max_output_tokens":16}`, nil, true},
		{"a message", openai, "/v1/messages", chat("gpt-none"), nil, true},
		{"a completion", openai, "/v1/completions", `{"model":"gpt-none","prompt":"x"}`, nil, true},
		{"an embedding", openai, "/v1/embeddings", `{"model":"embed-none","input":"x"}`, nil, true},
		{"an image", openai, "/v1/images/generations", `{"model":"image-none","prompt":"x"}`, nil, true},
		{"speech", openai, "/v1/audio/speech", `{"model":"tts-none","input":"x","voice":"alloy"}`, nil, true},
		{"a rerank", "cohere", "/v1/rerank", `{"model":"rerank-none","query":"x","documents":["y"]}`, nil, true},
		{"what is passed through", openai, "/v1/chatter", chat("gpt-none"), nil, true},
		{"a body that is not read", openai, "/v1/chat/completions", chat("gpt-4o-mini"), []string{"x-gateway-nitro-mode: true"}, true},
		{"a vector store", openai, "/v1/vector_stores", `{"name":"x"}`, nil, false},
		{"a free provider", ollama, "/v1/chat/completions", chat("llama-of-mine"), nil, false},
		{"a tuned model", openai, "/v1/chat/completions", chat("ft:gpt-4o-mini:acme::1"), nil, false},
		{"a dated model", openai, "/v1/chat/completions", chat("gpt-4o-mini-2031-01-31"), nil, false},
	} {
		for _, allow := range []bool{false, true} {
			r := newRig(t, func(s *gateway.Settings) { s.AllowUnpriced = allow })
			r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 100)}})
			host := "x-gateway-custom-host: " + r.up.URL() + "/v1"
			if c.provider == ollama {
				host = strings.TrimSuffix(host, "/v1")
			}
			a := r.call("POST", c.path, c.body, append([]string{"x-gateway-provider: " + c.provider, "authorization: Bearer k", host}, c.headers...)...)
			refused := a.StatusCode == 412 && strings.Contains(a.Text, "has no price")
			if refused != (c.refused && !allow) || refused && (len(r.up.Seen()) > 0 || !strings.Contains(a.Text, "base_model_slug") || !strings.Contains(a.Text, "API key")) {
				t.Errorf("%s, allowed %v: %d %s", c.name, allow, a.StatusCode, a.Text)
			}
		}
	}
}

// TestUnpricedModelOfAFormIsNotBlamedOnNitro: the refusal of a form that is passed through names
// why its model is not known, and no header that was not sent.
func TestUnpricedModelOfAFormIsNotBlamedOnNitro(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 100)}})
	form := strings.ReplaceAll("--b~Content-Disposition: form-data; name=\"model\"~~dall-e-2~--b--~", "~", "\r\n")
	a := r.call("POST", "/v1/images/variations", form, append(r.custom(), "content-type: multipart/form-data; boundary=b")...)
	if a.StatusCode != 412 || strings.Contains(a.Text, "nitro") || !strings.Contains(a.Text, "not a JSON object, has no price") {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
}

// TestUnpricedModelsPassWithoutACostBudget: budgets of tokens and rates know what to count.
func TestUnpricedModelsPassWithoutACostBudget(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.TokenCount, 1e6)}})
	if a := r.call("POST", "/v1/chat/completions", strings.Replace(capped, "gpt-4o-mini", "gpt-none", 1), r.custom()...); a.StatusCode != 200 {
		t.Error(a.StatusCode, a.Text)
	}
}

// TestUnpricedTargetIsRefusedAlone: a fallback goes on to a target with a price, and so does
// one whose override names it.
func TestUnpricedTargetIsRefusedAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 100)}})
	host := `"provider":"openai","api_key":"k","custom_host":"` + r.up.URL() + `/v1"`
	config := `{"strategy":{"mode":"fallback","on_status_codes":[412]},"targets":[{` + host + `,"override_params":{"model":"gpt-none"}},{` + host + `}]}`
	if a := r.call("POST", "/v1/chat/completions", capped, "x-gateway-config: "+config); a.StatusCode != 200 || len(r.up.Seen()) != 1 {
		t.Error(a.StatusCode, a.Text)
	}
	if a := r.call("POST", "/v1/chat/completions", capped, "x-gateway-config: {"+host+`,"override_params":{"model":"gpt-none"}}`); a.StatusCode != 412 {
		t.Error(a.StatusCode, a.Text)
	}
}

// TestFreeProviderCostsNothing: its calls are settled at 0, which is a price.
func TestFreeProviderCostsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 0.000001)}})
	r.up.Handle("/v1/chat/completions", upstream.Always(upstream.JSON(200, json.RawMessage(`{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9000,"completion_tokens":3,"total_tokens":9003}}`))))
	for range 3 {
		if a := r.call("POST", "/v1/chat/completions", hello, "x-gateway-provider: ollama", "x-gateway-custom-host: "+r.up.URL()); a.StatusCode != 200 {
			t.Fatal(a.StatusCode, a.Text)
		}
	}
	for _, row := range r.journal.some(t, 3) {
		if s := row.Spend; s.State != "settled" || s.Cost != 0 || s.Unpriced != "" || s.Version != "free" {
			t.Errorf("%+v", s)
		}
	}
	if s := r.limiter.State(time.Now(), &plan.Budgets[0]); s.Used != 0 || s.Held != 0 {
		t.Errorf("%+v", s)
	}
}
