package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/test/upstream"
)

// A denial with soft_deny_200 is a complete response in the format of the called API, as a stream if
// the caller requested one. The log has 446, and the usage is what the provider counted.
func TestSoftDenial_IsACompleteResponse(t *testing.T) {
	t.Parallel()
	for _, phase := range []guardrail.Phase{guardrail.Input, guardrail.Output} {
		for i, s := range streamingSurfaces {
			for _, stream := range []bool{false, true} {
				if stream && phase == guardrail.Output {
					continue // a stream ends as every denied one
				}
				t.Run(fmt.Sprint(phase, s.path, stream), func(t *testing.T) {
					t.Parallel()
					r := newRig(t)
					r.up.Handle("/v1/chat/completions", upstream.Always(chatResponse("Hi, a response")))
					r.up.Handle("/v1/responses", upstream.Always(upstream.JSON(200, []byte(fmt.Sprintf(textSurfaces[2].response, "Hi, a response")))))
					body := fmt.Sprintf(s.request, "gpt-4o-mini")
					if !stream {
						body = strings.Replace(body, `"stream":true,`, "", 1)
					}
					config := fmt.Sprintf(`"%s_guardrails":[{"deny":true,"soft_deny_200":true,"regexMatch":{"rule":"Hi","not":true}}]`, phase)
					a := r.call("POST", s.path, body, r.inline(config))
					if a.StatusCode != 200 || stream != strings.HasPrefix(a.Header.Get("content-type"), "text/event-stream") {
						t.Fatalf("%d %s", a.StatusCode, a.Text)
					}
					want := []string{`"finish_reason":"content_filter"`, `"stop_reason":"refusal"`, `"reason":"content_filter"`}[i]
					if !strings.Contains(a.Text, want) || !strings.Contains(a.Text, "the guardrail checks failed") {
						t.Errorf("%s", a.Text)
					}
					if !stream && !json.Valid([]byte(a.Text)) {
						t.Errorf("the body is not JSON: %s", a.Text)
					}
					if phase == guardrail.Output && !strings.Contains(a.Text, "900") {
						t.Errorf("the usage lacks the provider's tokens: %s", a.Text)
					}
					if row := r.journal.one(t); row.Status != 446 {
						t.Errorf("record %d", row.Status)
					}
				})
			}
		}
	}
}
