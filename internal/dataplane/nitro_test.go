package dataplane_test

import (
	"fmt"
	"strings"
	"testing"
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
	if a := r.call("POST", "/v1/rerank", "{}", r.custom("x-gateway-nitro-mode: true")...); a.StatusCode != 400 {
		t.Errorf("rerank: %d", a.StatusCode)
	}
}
