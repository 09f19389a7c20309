package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/gateway"
	"sluice/internal/test/upstream"
)

func faulty(fault string) string {
	return strings.Replace(hello, "gpt-4o-mini", "fault:"+fault, 1)
}

// impatient are settings that wait a short time for what does not come, and as long as a
// slow machine needs for all else.
func impatient(outcome record.Outcome) func(*gateway.Settings) {
	return func(s *gateway.Settings) {
		s.IdleTimeout, s.HeadTimeout = 30*time.Second, 30*time.Second
		switch outcome {
		case record.Timeout:
			s.IdleTimeout, s.HeadTimeout = 300*time.Millisecond, 300*time.Millisecond
		case record.Stalled: // behind what came
			s.IdleTimeout = 2 * time.Second
		}
	}
}

// Each upstream fault has one outcome on a typed route: its status, its body shape,
// and how it stands on record. Docs: docs/upstream-faults.md.
func TestUpstreamFaults(t *testing.T) {
	t.Parallel()
	cases := []struct {
		fault   string
		status  int
		message string
		outcome record.Outcome
	}{
		{"cut-before", 502, "upstream_error", record.Unreachable},
		{"reset", 502, "upstream_error", record.Unreachable},
		{"cut-head", 502, "upstream_error", record.Unreachable},
		{"cut-body", 502, "upstream_error", record.Unreachable},
		{"reset-body", 502, "upstream_error", record.Unreachable},
		{"length-long", 502, "upstream_error", record.Unreachable},
		{"bad-chunk", 502, "", record.Invalid},
		{"garbage", 502, "invalid_upstream_response", record.Invalid},
		{"two-framings", 502, "invalid_upstream_response", record.Invalid},
		{"huge-head", 502, "invalid_upstream_response", record.Invalid},
		{"garbage-json", 502, "invalid_upstream_response", record.Invalid},
		{"not-object", 502, "invalid_upstream_response", record.Invalid},
		{"error-200", 502, "reports an error and has no choices", record.Invalid},
		{"html", 502, "invalid_upstream_response", record.Invalid},
		{"empty", 502, "invalid_upstream_response", record.Invalid},
		{"stall-body", 408, "timeout_error", record.Timeout},
		{"hang", 408, "timeout_error", record.Timeout},
		{"status@400", 400, `"message":"openai error: `, record.Failed},
		{"status@401", 401, `"message":"openai error: `, record.Failed},
		{"status@429", 429, `"message":"openai error: `, record.Failed},
		{"status@500", 500, `"message":"openai error: `, record.Failed},
		{"plain-status@502", 502, "Invalid response received from openai", record.Failed},
		{"html-status@503", 503, "Invalid response received from openai", record.Failed},
		{"empty-status@503", 503, "Invalid response received from openai", record.Failed},
		{"redirect", 302, "", record.OK},
		{"odd-json", 200, "choices", record.OK},
		{"chunked", 200, "choices", record.OK},
		{"until-close", 200, "choices", record.OK},
		{"early-hints", 200, "choices", record.OK},
		{"length-short", 200, "choices", record.OK}, // what is announced is read; the rest spoils only its connection
	}
	for _, c := range cases {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, impatient(c.outcome))
			a := r.call("POST", "/v1/chat/completions", faulty(c.fault), r.custom()...)
			row := r.journal.one(t)
			if a.StatusCode != c.status || !strings.Contains(a.Text, c.message) || row.Outcome != c.outcome || a.Err != nil {
				t.Errorf("%d %s (%v), on record as %s: %s", a.StatusCode, a.Text, a.Err, row.Outcome, row.Error)
			}
			if a.StatusCode >= 400 && !json.Valid([]byte(a.Text)) {
				t.Errorf("an error that is no JSON: %s", a.Text)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, host := range map[string]string{"refused": upstream.Refused(t), "TLS": strings.Replace(r.up.URL(), "http://", "https://", 1)} {
		a := r.call("POST", "/v1/chat/completions", hello, "x-gateway-provider: openai", "authorization: Bearer k", "x-gateway-custom-host: "+host)
		if a.StatusCode != 503 || !strings.Contains(a.Text, "upstream_unreachable") || strings.Contains(a.Text, "127.0.0.1") {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.Text)
		}
	}
}

// What can go wrong with a stream, and what its reader gets to see.
func TestStreamFaults(t *testing.T) {
	t.Parallel()
	const errorEvent = `data: {"error":{`
	cases := []struct {
		fault   string
		status  int
		ends    string // what the text ends in, or contains
		outcome record.Outcome
	}{
		{"cut-stream@3", 200, errorEvent, record.Truncated},
		{"cut-bytes@700", 200, errorEvent, record.Truncated},
		{"reset-stream@3", 200, errorEvent, record.Truncated},
		{"end-early@3", 200, errorEvent, record.Truncated},
		{"stall@3", 200, errorEvent, record.Stalled},
		{"error-mid@3", 200, errorEvent, record.Failed}, // the upstream said it itself
		{"no-done", 200, "data: [DONE]", record.OK},     // whole but for the mark, which is added
		{"error-first", 500, `"message":`, record.Failed},
		{"overloaded-first", 529, `"message":`, record.Failed},
		{"no-events", 502, `"error":{`, record.Unreachable},
		{"stall@0", 408, `"error":{`, record.Timeout},
		{"json-for-stream", 200, `"choices"`, record.OK},
		{"status@429", 429, `openai error`, record.Failed},
		{"sse-comments", 200, "data: [DONE]", record.OK},
		{"sse-crlf", 200, "data: [DONE]", record.OK},
		{"sse-odd", 200, "[DONE]", record.OK},
		{"joined", 200, "data: [DONE]", record.OK},
		{"chunked", 200, "data: [DONE]", record.OK},
	}
	for _, c := range cases {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			if _, ok := upstream.Faults()[strings.Split(c.fault, "@")[0]]; !ok {
				t.Fatal("no such fault")
			}
			r := newRig(t, impatient(c.outcome))
			body := strings.Replace(faulty(c.fault), "{", `{"stream":true,`, 1)
			a := r.call("POST", "/v1/chat/completions", body, r.custom()...)
			row := r.journal.one(t)
			if a.StatusCode != c.status || !strings.Contains(a.Text, c.ends) || row.Outcome != c.outcome || a.Err != nil {
				t.Errorf("%d %s (%v), on record as %s: %s", a.StatusCode, a.Text, a.Err, row.Outcome, row.Error)
			}
			if row.Outcome != record.OK && strings.Contains(a.Text, "[DONE]") {
				t.Error("a stream that failed ends in [DONE]")
			}
		})
	}
}

// Some providers say 200 before they know: the error in such an answer counts with the status
// that it names, on each surface, for fallback too.
func TestErrorsOfSuccess(t *testing.T) {
	t.Parallel()
	const errorBody = `{"error":{"message":"Rate limited upstream","code":429,"metadata":{}},"user_id":"u"}`
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"model":"m","messages":[{"role":"user","content":"x"}]}`,
		"/v1/messages":         `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`,
		"/v1/responses":        `{"model":"m","stream":true,"input":"x"}`,
	} {
		r := newRig(t)
		r.up.Handle("/v1/chat/completions", upstream.InTurn(upstream.JSON(200, []byte(errorBody)), upstream.JSON(200, []byte(errorBody)), upstream.JSON(200, []byte(`{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}`))))
		to := []string{"x-gateway-provider: together-ai", "authorization: Bearer k", "x-gateway-custom-host: " + r.up.URL()}
		if a := r.call("POST", path, body, to...); a.StatusCode != 429 || !strings.Contains(a.Text, "Rate limited upstream") {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.Text)
		}
		target := `{"provider":"together-ai","api_key":"k","custom_host":"` + r.up.URL() + `"}`
		again := `x-gateway-config: {"strategy":{"mode":"fallback","on_status_codes":[429]},"targets":[` + target + `,` + target + `]}`
		if a := r.call("POST", path, body, again); a.StatusCode != 200 || !strings.Contains(a.Text, "Hi") {
			t.Errorf("%s again: %d after %d, %s", path, a.StatusCode, len(r.up.Seen()), a.Text)
		}
	}
}
