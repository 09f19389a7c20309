package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// A number that readers of JSON disagree about is refused with its path where the call is written
// in other words, and travels unchanged where its bytes are relayed.
func TestNumbersBeyondFloat64(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle(geminiPath, upstream.Always(upstream.JSON(200, []byte(geminiResponse))))
	r.up.Handle("/v1/chat/completions", upstream.Always(upstream.JSON(200, []byte(`{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}]}`))))
	const far = `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","maximum":1e999}}}]`
	body := `{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"x"}],` + far + `}`
	if a := r.call("POST", "/v1/chat/completions", body, r.gemini()...); a.StatusCode != 400 || !strings.Contains(a.Text, `"param":"tools[0].function.parameters.maximum"`) {
		t.Errorf("translated: %d %s", a.StatusCode, a.Text)
	}
	if n := len(r.up.Seen()); n != 0 {
		t.Errorf("%d calls were sent", n)
	}
	if a := r.call("POST", "/v1/chat/completions", body, r.custom()...); a.StatusCode != 200 {
		t.Errorf("relayed: %d %s", a.StatusCode, a.Text)
	}
	if seen := r.up.Seen(); len(seen) != 1 || !strings.Contains(string(seen[0].Body), far) {
		t.Errorf("sent %v", seen)
	}
}

// A field of access or cost that stands in a body twice is refused with its path on every route.
func TestFieldsOfCostTwice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, c := range []struct{ path, body, param string }{
		{"/v1/chat/completions", `{"model":"a","messages":[],"max_tokens":1,"max_tokens":9}`, "max_tokens"},
		{"/v1/chat/completions", `{"model":"a","messages":[],"n":1,"n":9}`, "n"},
		{"/v1/messages", `{"model":"a","max_tokens":1,"messages":[],"stream":false,"stream":true}`, "stream"},
		{"/v1/responses", `{"model":"a","input":"x","max_output_tokens":1,"max_output_tokens":9}`, "max_output_tokens"},
		{"/v1/embeddings", `{"model":"a","input":"x","model":"b"}`, "model"},
		{"/v1/not/known", `{"model":"a","max_completion_tokens":1,"max_completion_tokens":9}`, "max_completion_tokens"},
		{"/v1/not/known", `{"generationConfig":{"maxOutputTokens":1,"maxOutputTokens":9}}`, "generationConfig.maxOutputTokens"},
	} {
		if a := r.call("POST", c.path, c.body, r.custom()...); a.StatusCode != 400 || !strings.Contains(a.Text, c.param) {
			t.Errorf("%s %s: %d %s", c.path, c.body, a.StatusCode, a.Text)
		}
	}
	if n := len(r.up.Seen()); n != 0 {
		t.Errorf("%d calls were sent", n)
	}
}
