package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/limits/ledger"
	"sluice/internal/test/upstream"
)

// failedResponse is a whole answer that reports an error and the usage of 70 and 1400 tokens.
type failedResponse struct {
	name     string
	provider []string // headers besides the host
	model    string
	base     string // of the custom host
	path     string
	body     string
	response string // a good answer, of 4 and 2 tokens
	relayed  string // the surface that the provider has itself; "" for none
}

var failedAnswers = []failedResponse{
	{name: "openai", provider: []string{"x-gateway-provider: cerebras"}, base: "/v1", path: "/v1/chat/completions", response: speakers[0].response,
		body: `{"error":{"message":"REASON","type":"server_error","code":502},"usage":{"prompt_tokens":70,"completion_tokens":1400,"total_tokens":1470}}`},
	{name: "openrouter, a choice that failed", provider: []string{"x-gateway-provider: openrouter"}, relayed: "responses", base: "/v1", path: "/v1/chat/completions", response: speakers[0].response,
		body: `{"id":"c","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hel"},"finish_reason":"error","error":{"code":502,"message":"REASON"}}],"usage":{"prompt_tokens":70,"completion_tokens":1400,"total_tokens":1470}}`},
	{name: "openai, an error beside choices", provider: []string{"x-gateway-provider: cerebras"}, base: "/v1", path: "/v1/chat/completions", response: speakers[0].response,
		body: `{"id":"c","object":"chat.completion","model":"m-1","choices":[],"error":{"code":502,"message":"REASON"},"usage":{"prompt_tokens":70,"completion_tokens":1400,"total_tokens":1470}}`},
	{name: "a flat error", provider: []string{"x-gateway-provider: cerebras"}, base: "/v1", path: "/v1/chat/completions", response: speakers[0].response,
		body: `{"object":"error","message":"REASON","type":"InternalServerError","code":500,"usage":{"prompt_tokens":70,"completion_tokens":1400,"total_tokens":1470}}`},
	{name: "anthropic", provider: []string{"x-gateway-provider: anthropic"}, base: "/v1", path: "/v1/messages", response: speakers[1].response,
		body: `{"type":"error","error":{"type":"api_error","message":"REASON"},"usage":{"input_tokens":70,"output_tokens":1400}}`},
	{name: "google", provider: []string{"x-gateway-provider: google"}, path: "/v1beta/models/m-1:generateContent", response: geminiResponse,
		body: `{"error":{"code":503,"message":"REASON","status":"UNAVAILABLE"},"usageMetadata":{"promptTokenCount":70,"candidatesTokenCount":1400,"totalTokenCount":1470}}`},
	{name: "google, in a list", provider: []string{"x-gateway-provider: google"}, path: "/v1beta/models/m-1:generateContent", response: geminiResponse,
		body: `[{"error":{"code":503,"message":"REASON","status":"UNAVAILABLE"},"usageMetadata":{"promptTokenCount":70,"candidatesTokenCount":1400,"totalTokenCount":1470}}]`},
	{name: "cohere", provider: []string{"x-gateway-provider: cohere"}, path: "/v2/chat",
		response: `{"id":"c","finish_reason":"COMPLETE","message":{"role":"assistant","content":[{"type":"text","text":"Hello"}]},"usage":{"tokens":{"input_tokens":4,"output_tokens":2}}}`,
		body:     `{"message":"REASON","usage":{"billed_units":{"input_tokens":70,"output_tokens":1400},"tokens":{"input_tokens":70,"output_tokens":1400}}}`},
	{name: "workers ai", provider: []string{"x-gateway-provider: workers-ai"}, path: "/m-1", relayed: "responses",
		response: `{"result":{"response":"Hello","usage":{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6}},"success":true,"errors":[],"messages":[]}`,
		body:     `{"result":{"usage":{"prompt_tokens":70,"completion_tokens":1400,"total_tokens":1470}},"success":false,"errors":[{"code":3030,"message":"REASON"}],"messages":[]}`},
	{name: "bedrock", provider: bedrockHeaders, model: "amazon.nova-lite-v1:0", path: "/model/amazon.nova-lite-v1%3A0/converse",
		response: `{"output":{"message":{"role":"assistant","content":[{"text":"Hello"}]}},"stopReason":"end_turn","usage":{"inputTokens":4,"outputTokens":2,"totalTokens":6}}`,
		body:     `{"message":"REASON","usage":{"inputTokens":70,"outputTokens":1400,"totalTokens":1470}}`},
}

var bedrockHeaders = []string{"x-gateway-provider: bedrock", "x-gateway-aws-region: eu-central-1", "x-gateway-aws-access-key-id: AKIDEXAMPLE", "x-gateway-aws-secret-access-key: secret"}

// headers are those of a call to the provider.
func (f *failedResponse) headers(r *rig) []string {
	return append([]string{"authorization: Bearer k", "x-gateway-custom-host: " + r.up.URL() + f.base}, f.provider...)
}

func (f *failedResponse) call(r *rig, s surface, headers ...string) callResult {
	body := s.body
	if f.model != "" {
		body = strings.Replace(body, "m-1", f.model, 1)
	}
	return r.call("POST", s.path, body, append(f.headers(r), headers...)...)
}

// providerCountedTokens adds up what the ledger closed as counted by providers.
func (r *rig) providerCountedTokens(t *testing.T, lines int) (total int64) {
	t.Helper()
	n := 0
	for _, l := range r.journal.ledger() {
		if l.State == ledger.Reserved {
			continue
		}
		n++
		if l.State == ledger.Settled {
			total += l.Charges[0].Units
		}
	}
	if n != lines {
		t.Errorf("%d lines are closed, want %d", n, lines)
	}
	return total
}

// The usage that comes with an error in a whole answer counts, on every surface, whatever the
// status is, also where another try or target follows.
func TestUsageOfFailedAnswers(t *testing.T) {
	t.Parallel()
	for name, s := range surfaces {
		for _, f := range failedAnswers {
			if f.relayed == name {
				continue
			}
			for _, status := range []int{200, 500} {
				bad := upstream.JSON(status, []byte(f.body))
				t.Run(fmt.Sprintf("%s to %s, %d", name, f.name, status), func(t *testing.T) {
					t.Parallel()
					r := newRig(t)
					plan := r.tokenBudget()
					r.up.Handle(f.path, upstream.Always(bad))
					a := f.call(r, s)
					if used := r.closedAt(t, plan, 1); used != 1470 {
						t.Errorf("counted %d tokens; %d %s", used, a.StatusCode, a.Text)
					}
					row := r.journal.one(t)
					if row.Usage.InputTokens != 70 || row.Usage.OutputTokens != 1400 || row.Spend.State != "settled" || row.Outcome != record.Failed && row.Outcome != record.Invalid || row.Status < 400 {
						t.Errorf("on record as %s with %d, %s, %d and %d tokens", row.Outcome, row.Status, row.Spend.State, row.Usage.InputTokens, row.Usage.OutputTokens)
					}
				})
			}
			t.Run(fmt.Sprintf("%s to %s, a retry", name, f.name), func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				plan := r.tokenBudget()
				r.up.Handle(f.path, upstream.InTurn(upstream.JSON(500, []byte(f.body)), upstream.JSON(200, []byte(f.response))))
				a := f.call(r, s, `x-gateway-config: {"retry":{"attempts":1,"on_status_codes":[500]}}`)
				if used := r.closedAt(t, plan, 1); a.StatusCode != 200 || used != 1476 || r.providerCountedTokens(t, 2) != 1476 {
					t.Errorf("counted %d tokens; %d %s", used, a.StatusCode, a.Text)
				}
			})
		}
	}
}
