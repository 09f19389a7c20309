package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// A nitro call goes through unread, whatever its body is, and is metered all the
// same; what would need the body is refused.
func TestNitro(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	body := "  " + strings.Replace(hello, "{", `{"model":"gpt-4o-mini",`, 1) // a doubled field, which a read body may not have
	a := r.call("POST", "/v1/chat/completions", body, r.custom("x-gateway-nitro-mode: true")...)
	if a.StatusCode != 200 || string(r.up.Seen()[0].Body) != body {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	if row := r.journal.one(t); row.Usage.TotalTokens == 0 {
		t.Error("the call was not metered")
	}
	for _, cfg := range []string{
		`{"provider":"openai","api_key":"k","custom_host":"%s/v1","retry":{"attempts":2}}`,
		`{"provider":"openai","api_key":"k","custom_host":"%s/v1","override_params":{"n":1}}`,
		`{"strategy":{"mode":"fallback"},"targets":[{"provider":"openai","api_key":"k","custom_host":"%s/v1"}]}`,
	} {
		a := r.call("POST", "/v1/chat/completions", hello, "x-gateway-nitro-mode: true", "x-gateway-config: "+fmt.Sprintf(cfg, r.up.URL()))
		if a.StatusCode != 400 || !strings.Contains(a.Text, "nitro") {
			t.Errorf("%s: %d %s", cfg, a.StatusCode, a.Text)
		}
	}
	r.up.Handle("/v1beta/models/gemini-2.5-flash:generateContent", upstream.Always(upstream.Text(200, "text/event-stream", "data: {}\n\n")))
	if a := r.call("POST", "/v1/chat/completions", hello, "x-gateway-nitro-mode: true", "x-gateway-provider: google", "authorization: Bearer k", "x-gateway-custom-host: "+r.up.URL()); a.StatusCode != 400 {
		t.Errorf("in other words: %d %s", a.StatusCode, a.Text)
	}
	if a := r.call("POST", "/v1/rerank", "{}", r.custom("x-gateway-nitro-mode: true")...); a.StatusCode != 400 {
		t.Errorf("rerank: %d", a.StatusCode)
	}
}

// Who has a body sent unread pays for what the answer names, and for what was sent and said
// where that does not say it.
func TestNitroIsBilled(t *testing.T) {
	t.Parallel()
	const inputPrice, out = 150, 600 // nano-dollars a token of gpt-4o-mini
	events := upstream.Text(200, "text/event-stream", `data: {"model":"gpt-4o-mini","choices":[{"delta":{"content":"Hello there"}}]}`+"\n\ndata: [DONE]\n\n")
	for name, c := range map[string]struct {
		response upstream.Response
		state    string
		cost     int64
	}{
		"counted":     {chatOf(20, 48), "settled", 20*inputPrice + 48*out},
		"not counted": {upstream.JSON(200, json.RawMessage(`{"model":"gpt-4o-mini","choices":[{"message":{"content":"Hello there"}}]}`)), "estimated", int64(len(hello)/4)*inputPrice + 2*out},
		"events":      {events, "estimated", int64(len(hello)/4)*inputPrice + 2*out},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle("/v1/chat/completions", upstream.Always(c.response))
			a := r.call("POST", "/v1/chat/completions", hello, r.custom("x-gateway-nitro-mode: true")...)
			if s := r.journal.one(t).Spend; a.StatusCode != 200 || s.State != c.state || s.Cost != c.cost || s.Unpriced != "" {
				t.Errorf("%d %s: %+v, want %s at %d", a.StatusCode, a.Text, s, c.state, c.cost)
			}
		})
	}
}
