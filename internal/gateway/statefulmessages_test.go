package gateway_test

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"sluice/internal/test/upstream"
)

// A message of a thread has the last turn alone. Where Anthropic keeps the others it goes on
// as it came; elsewhere the caller's client is told to send all of them.
func TestThreadsGoWhereTheyAreKept(t *testing.T) {
	t.Parallel()
	const thread = `"thread":{"type":"continue","previous_message_id":"msg_1"}`
	message := func(model, more string) string {
		return `{"model":"` + model + `","max_tokens":9,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t_1","content":"rain"}]}]` + more + `}`
	}
	for _, c := range []struct {
		name, path, body, provider string
		refused                    bool
	}{
		{"Anthropic", "/v1/messages", message("claude-opus-5", ","+thread), "anthropic", false},
		{"Google", "/v1/messages", message("gemini-2.5-flash", ","+thread), "google", true},
		{"OpenAI, as it begins", "/v1/messages", message("gpt-5", `,"thread":{"type":"create"}`), "openai", true},
		{"Claude at Amazon", "/v1/messages", message("anthropic.claude-sonnet-4", ","+thread), "bedrock", true},
		{"Claude at Google", "/v1/messages", message("anthropic.claude-sonnet-4-5", ","+thread), "vertex-ai", true},
		{"no thread", "/v1/messages", message("anthropic.claude-sonnet-4", `,"thread":null`), "bedrock", false},
		{"counted", "/v1/messages/count_tokens", `{"model":"anthropic.claude-sonnet-4","messages":[{"role":"user","content":"x"}],` + thread + `}`, "bedrock", false},
	} {
		r := newRig(t)
		headers := []string{"x-gateway-provider: " + c.provider, "x-gateway-custom-host: " + r.up.URL(), "x-gateway-vertex-region: global", "x-gateway-vertex-project-id: p", "authorization: Bearer upstream"}
		if c.provider == "bedrock" {
			headers = r.bedrock()
		}
		a := r.call("POST", c.path, c.body, headers...)
		sent := r.up.Seen()
		code := gjson.Get(a.Text, "error.details.error_code").String()
		if refused := a.StatusCode == 400 && len(sent) == 0 && code == "thread_unsupported_request"; refused != c.refused {
			t.Errorf("%s: %d after %d calls: %s", c.name, a.StatusCode, len(sent), a.Text)
		}
		if c.provider == "anthropic" && !strings.Contains(string(sent[0].Body), thread) {
			t.Errorf("%s got %s", c.name, sent[0].Body)
		}
	}
}

// What Anthropic says of a thread reaches the client, which then begins another.
func TestThreadsThatAnthropicLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/messages", upstream.Always(upstream.JSON(404, []byte(`{"type":"error","error":{"type":"not_found_error","message":"No thread state was found.","details":{"error_code":"thread_not_found"}},"request_id":"req_1"}`))))
	a := r.call("POST", "/v1/messages", `{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"x"}],"thread":{"type":"continue","previous_message_id":"msg_1"}}`,
		"x-gateway-provider: anthropic", "x-gateway-custom-host: "+r.up.URL(), "authorization: Bearer upstream")
	if code := gjson.Get(a.Text, "error.details.error_code").String(); a.StatusCode != 404 || code != "thread_not_found" {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
}
