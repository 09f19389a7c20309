package gateway_test

import (
	"net/http"
	"testing"
)

// A conversation is refused before the provider is called, as any other call is.
func TestBindingGuardrail_RefusesRealtimeConversations(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	host := talker(t, nil, nil)
	for _, hooks := range []string{"input_guardrails", "output_guardrails"} {
		config := `{"provider":"openai","custom_host":"` + host + `/v1","api_key":"k","` + hooks + `":[{"default.contains":{"words":["a"],"operator":"any"},"deny":true}]}`
		_, resp, err := r.socketTo(t.Context(), host, "/v1/realtime?model=gpt-realtime", "X-Gateway-Config: "+config)
		if err == nil || resp == nil || resp.StatusCode != http.StatusNotImplemented {
			t.Errorf("%s: got %v, %v, want a refusal with 501", hooks, resp, err)
		}
	}
}
