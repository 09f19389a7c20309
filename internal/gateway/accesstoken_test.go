package gateway_test

import (
	"testing"

	"sluice/internal/test/upstream"
)

// An access token of OAuth reaches Anthropic as a bearer token with its beta flag, brought by
// the caller or stored; a key still goes out in x-api-key.
func TestAccessTokensReachAnthropicAsBearerTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, key, beta, bearer, apiKey, flags string }{
		{"brought", "sk-ant-oat01-a", "", "Bearer sk-ant-oat01-a", "", "oauth-2025-04-20"},
		{"brought with flags", "sk-ant-oat01-a", "context-1m-2025-08-07", "Bearer sk-ant-oat01-a", "", "context-1m-2025-08-07,oauth-2025-04-20"},
		{"a key", "sk-ant-api03-a", "context-1m-2025-08-07", "", "sk-ant-api03-a", "context-1m-2025-08-07"},
	} {
		for _, stored := range []bool{false, true} {
			r := newRig(t)
			r.up.Handle("/v1/messages", upstream.Always(upstream.JSON(200, []byte(claudeResponse))))
			account := r.saved("claude-main", "anthropic", "/v1")
			account.Values["key"] = c.key
			headers := []string{"x-gateway-provider: @claude-main"}
			if !stored {
				headers = []string{"x-gateway-provider: anthropic", "authorization: Bearer " + c.key, "x-gateway-custom-host: " + r.up.URL() + "/v1"}
			}
			if c.beta != "" {
				headers = append(headers, "anthropic-beta: "+c.beta)
			}
			a := r.call("POST", "/v1/messages", surfaces["messages"].body, headers...)
			if a.StatusCode != 200 {
				t.Fatalf("%s, stored %v: %d %s", c.name, stored, a.StatusCode, a.Text)
			}
			got := sentHeader(r.up.Seen()[0])
			if got["authorization"] != c.bearer || got["x-api-key"] != c.apiKey || got["anthropic-beta"] != c.flags {
				t.Errorf("%s, stored %v: sent %v", c.name, stored, got)
			}
		}
	}
}
