package gateway_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sluice/internal/domain/keys"
	"sluice/internal/gateway"
	"sluice/internal/limits/quota"
	"sluice/internal/test/upstream"
)

// Where a cost budget applies, a call that names no model is sent only to a path that is known
// to cost nothing.
func TestCallsWithoutAModelMustBeKnownToCostNothing(t *testing.T) {
	t.Parallel()
	const free, refused = true, false
	for _, c := range []struct {
		provider, call, body string
		free                 bool
	}{
		{"openai", "POST /v1/threads", `{}`, free},
		{"openai", "POST /v1/threads/thread_1/messages", `{"role":"user","content":"x"}`, free},
		{"openai", "POST /v1/threads/thread_1/runs/run_1/cancel", `{}`, free},
		{"openai", "POST /v1/threads/thread_1/runs", `{"assistant_id":"asst_1"}`, refused},
		{"openai", "POST /v1/threads/thread_1/runs", `{"assistant_id":"asst_1","model":"gpt-4o-mini"}`, refused},
		{"openai", "POST /v1/Threads/thread_1/Runs", `{"assistant_id":"asst_1"}`, refused},
		{"openai", "POST /v1/threads/thread_1/runs%3Bx", `{"assistant_id":"asst_1"}`, refused},
		{"openai", "POST /v1/threads/runs", `{"assistant_id":"asst_1"}`, refused},
		{"openai", "POST /v1/threads/thread_1/runs/run_1/submit_tool_outputs", `{"tool_outputs":[]}`, refused},
		{"openai", "POST /v1/assistants", `{"model":"gpt-none"}`, free},
		{"openai", "POST /v1/vector_stores", `{"name":"x"}`, free},
		{"openai", "POST /v1/vector_stores/vs_1/search", `{"query":"x"}`, free},
		{"openai", "POST /v1/vector_stores/vs_1/file_batches/b/cancel", `{}`, free},
		{"openai", "POST /v1/uploads", `{"filename":"x","purpose":"batch"}`, free},
		{"openai", "POST /v1/uploads/u_1/parts", "x", free},
		{"openai", "POST /v1/containers", `{"name":"x"}`, refused},
		{"openai", "POST /v1/containers/c_1/files", "x", free},
		{"openai", "POST /v1/conversations", `{"items":[]}`, free},
		{"openai", "POST /v1/chat/completions/chatcmpl-1", `{"metadata":{}}`, free},
		{"openai", "POST /v1/proxy/responses/resp_1/cancel", `{}`, free},
		{"openai", "POST /v1/proxy/Batches", `{"input_file_id":"file-1"}`, refused},
		{"openai", "POST /v1/proxy/Batches", `{"input_file_id":"file-1","model":"gpt-4o-mini"}`, refused},
		{"openai", "POST /v1/images/variations", "x", refused},
		{"openai", "POST /v1/realtime/client_secrets", `{"session":{"model":"gpt-realtime"}}`, refused},
		{"openai", "POST /v1/realtime/sessions", `{"model":"gpt-4o-mini"}`, refused},
		{"openai", "POST /v1/not/known", `{}`, refused},
		{"openai", "GET /v1/threads/thread_1/runs", "", free},
		{"openai", "GET /v1/not/known", "", free},
		{"openai", "DELETE /v1/vector_stores/vs_1", "", free},
		{"mistral-ai", "POST /v1/conversations", `{"agent_id":"a","inputs":"x"}`, refused},
		{"mistral-ai", "POST /v1/agents/completions", `{"agent_id":"a","messages":[]}`, refused},
		{"deepgram", "POST /v1/proxy/v1/listen?model=nova-3", `{"url":"https://example.com/a.wav"}`, refused},
		{"google", "POST /upload/v1beta/files", "x", free},
		{"google", "POST /v1beta/models/gemini-2.5-flash:countTokens", `{"contents":[]}`, free},
		{"google", "POST /v1beta/models/gemini-none:countTokens", `{"contents":[]}`, free},
		{"google", "POST /v1beta/models/gemini-none:generateContent", `{"contents":[]}`, refused},
		{"google", "POST /v1beta/fileSearchStores/f:importFile", `{"fileName":"files/x"}`, refused},
		{"google", "POST /v1beta/auth_tokens", `{}`, refused},
		{"google", "PATCH /v1beta/cachedContents/c", `{"ttl":"60s"}`, free},
		{"google", "POST /v1/proxy/v1/projects/files/locations/l/publishers/google/models/gemini-none:predict", `{"instances":[{}]}`, refused},
		{"replicate", "POST /v1/predictions", `{"version":"v","input":{}}`, refused},
		{"replicate", "POST /v1/predictions/p/cancel", `{}`, free},
		{"stability-ai", "POST /v1/v2beta/stable-image/generate/core", "x", refused},
		{"ollama", "POST /v1/proxy/api/chat", `{"messages":[]}`, free},
	} {
		for _, allow := range []bool{false, true} {
			method, path, _ := strings.Cut(c.call, " ")
			if allow && strings.HasSuffix(path, "Batches") { // the price is not all that is missing
				continue
			}
			r := newRig(t, func(s *gateway.Settings) { s.AllowUnpriced = allow })
			r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 100)}})
			kind := "application/json"
			if c.body == "x" {
				kind = "application/octet-stream"
			}
			a := r.call(method, path, c.body, "x-gateway-provider: "+c.provider, "authorization: Bearer k", "x-gateway-custom-host: "+r.up.URL(), "content-type: "+kind, "x-gateway-passthrough: true")
			sent := slices.ContainsFunc(r.up.Seen(), func(s upstream.Seen) bool { return s.Method == method })
			if sent != (c.free || allow) || (a.StatusCode == 412) == sent {
				t.Errorf("%s of %s %s, allowed %v: %d %s", c.call, c.provider, c.body, allow, a.StatusCode, a.Text)
			}
		}
	}
}

// Counting tokens takes nothing from limits, also on the routes of a provider's own.
func TestCountingTokensAtAProvidersOwnRouteIsNotMetered(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 0.000001)}})
	const path = "/v1beta/models/gemini-2.5-flash:countTokens"
	r.up.Handle(path, upstream.Always(upstream.JSON(200, json.RawMessage(`{"totalTokens":31}`))))
	a := r.call("POST", path, `{"contents":[]}`, "x-gateway-provider: google", "authorization: Bearer k", "x-gateway-custom-host: "+r.up.URL())
	if lines := r.journal.ledger(); a.StatusCode != 200 || len(lines) != 0 {
		t.Errorf("%d %s, ledger %+v", a.StatusCode, a.Text, lines)
	}
}
