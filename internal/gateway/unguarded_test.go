package gateway_test

import (
	"strings"
	"testing"
)

// Guardrails are not run yet. Whoever has some is told so, once.
func TestGuardrailsThatAreNotRunAreTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.call("POST", "/v1/chat/completions", hello, r.custom()...)
	if text := r.log.String(); strings.Contains(text, "guardrails") {
		t.Errorf("without any: %s", text)
	}
	config := `{"provider":"openai","api_key":"k","custom_host":"` + r.up.URL() + `/v1","input_guardrails":[{"default.alluppercase":{}}]}`
	for range 2 {
		if a := r.call("POST", "/v1/chat/completions", hello, "x-gateway-config: "+config); a.StatusCode != 200 {
			t.Fatal(a.Text)
		}
	}
	if text := r.log.String(); strings.Count(text, "not enforced by this version") != 1 || !strings.Contains(text, "config=inline") {
		t.Errorf("the log has %q", text)
	}
}
