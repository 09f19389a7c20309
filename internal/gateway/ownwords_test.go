package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// What Anthropic's clients say in headers reaches a provider that understands it, and
// nobody else; a header that is named like a credential reaches nobody.
func TestAnthropicHeadersAreForwarded(t *testing.T) {
	t.Parallel()
	headers := []string{
		"anthropic-version: 2023-06-01", "anthropic-beta: context-1m-2025-08-07", "anthropic-workspace-id: wrkspc_1", "anthropic-user-profile-id: uprof_1",
		"anthropic-api-key: sk-of-somebody", "anthropic-auth-token: sk-of-somebody",
	}
	for _, c := range []struct{ provider, path, upstream, response string }{
		{"anthropic", "/v1/messages", "/v1/messages", claudeResponse},
		{"anthropic", "/v1/chat/completions", "/v1/messages", claudeResponse},
		{"anthropic", "/v1/messages/count_tokens", "/v1/messages/count_tokens", `{"input_tokens":4}`},
		{"cerebras", "/v1/messages", "/v1/chat/completions", speakers[0].response},
	} {
		r := newRig(t)
		r.up.Handle(c.upstream, upstream.Always(upstream.JSON(200, []byte(c.response))))
		a := r.call("POST", c.path, surfaces["messages"].body, append(headers, r.as(speaker{id: c.provider, base: "/v1"})...)...)
		if a.StatusCode != 200 {
			t.Fatalf("%s at %s: %d %s", c.path, c.provider, a.StatusCode, a.Text)
		}
		got := sentHeader(r.up.Seen()[0])
		for _, line := range headers {
			name, value, _ := strings.Cut(line, ": ")
			want := value
			if c.provider != "anthropic" || strings.HasPrefix(value, "sk-") {
				want = ""
			}
			if got[name] != want {
				t.Errorf("%s at %s: %s is %q, want %q", c.path, c.provider, name, got[name], want)
			}
		}
	}
}

func sentHeader(s upstream.Seen) map[string]string {
	h := make(map[string]string, len(s.Header))
	for _, f := range s.Header {
		h[strings.ToLower(f.Name)] = f.Value
	}
	return h
}

const responded = `{"id":"resp_1","object":"response","created_at":1700000000,"status":"completed","model":"m-1","output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hello","annotations":[]}]}],"usage":{"input_tokens":4,"output_tokens":2,"total_tokens":6}}`

// Callers who opt in reach Responses with their conversations where the provider has them,
// and go the usual way where it has none or speaks messages itself.
func TestResponsesOnRequest(t *testing.T) {
	t.Parallel()
	const beta = "x-gateway-beta: server-side-mcp-2026-06-01, use-responses-api-2026-07-30"
	for _, c := range []struct{ provider, surface, beta, upstream, response string }{
		{"openai", "chat", beta, "/v1/responses", responded},
		{"openai", "messages", beta, "/v1/responses", responded},
		{"openai", "chat", "x-gateway-beta: something-else", "/v1/chat/completions", speakers[0].response},
		{"openai", "messages", "x-gateway-beta", "/v1/chat/completions", speakers[0].response},
		{"cerebras", "chat", beta, "/v1/chat/completions", speakers[0].response},
		{"anthropic", "messages", beta, "/v1/messages", claudeResponse},
		{"anthropic", "chat", beta, "/v1/messages", claudeResponse},
	} {
		r := newRig(t)
		r.up.Handle(c.upstream, upstream.Always(upstream.JSON(200, []byte(c.response))))
		s := surfaces[c.surface]
		a := r.call("POST", s.path, s.body, append(r.as(speaker{id: c.provider, base: "/v1"}), c.beta)...)
		if a.StatusCode != 200 || r.up.Seen()[0].Target != c.upstream || !strings.Contains(a.Text, s.buffered[1]) {
			t.Errorf("%s of %s with %q went to %s: %d %s", c.surface, c.provider, c.beta, r.up.Seen()[0].Target, a.StatusCode, a.Text)
		}
	}
}
