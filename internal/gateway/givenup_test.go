package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/keys"
	"sluice/internal/limits/quota"
	"sluice/internal/test/upstream"
)

// streamedChat is a chat whose answer shall be a stream.
var streamedChat = strings.Replace(hello, "{", `{"stream":true,`, 1)

// chunk is an event of a chat's stream.
func chunk(delta string) string {
	return `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}` + "\n\n"
}

// continued is a config whose second model goes on with a stream of the first.
func (r *rig) continued(models ...string) string {
	return "x-gateway-config: " + strings.Replace(r.targets("", models...), `{"strategy"`, `{"continue_stream":true,"strategy"`, 1)
}

// missingRecords says what is missing of n records with nothing held for them any more.
func (r *rig) missingRecords(plan *quota.Plan, n int) (missing string) {
	for limit := time.Now().Add(30 * time.Second); time.Now().Before(limit); { // an answer that has no end is here before its record
		records, held := len(r.journal.all()), r.limiter.State(time.Now(), &plan.Budgets[0]).Held
		if missing = ""; records == n && held == 0 {
			break
		}
		missing = fmt.Sprintf("%d records instead of %d, %d held", records, n, held)
		time.Sleep(10 * time.Millisecond)
	}
	return missing
}

// A target that should go on with a stream and answers with something else is on record, and
// what was reserved for it is free again.
func TestContinuedWithAnError(t *testing.T) {
	t.Parallel()
	response := upstream.JSON(200, []byte(`{"id":"c","object":"chat.completion","created":1,"model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"whole"},"finish_reason":"stop"}]}`))
	for name, second := range map[string]upstream.Response{"an error": upstream.OpenAIError(500, "server_error", "", "no"), "no stream": response} {
		r := newRig(t)
		plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 100)}})
		r.up.Handle("/v1/chat/completions", upstream.InTurn(events(chunk(`{"role":"assistant","content":"You "}`)), second))
		r.call("POST", "/v1/chat/completions", streamedChat, r.continued("gpt-4o", "gpt-4o"))
		if missing := r.missingRecords(plan, 2); missing != "" {
			t.Errorf("%s: %s", name, missing)
		}
	}
}

// What cannot be continued is not begun again, and nobody pays for that.
func TestContinuedOnlyWhereItCan(t *testing.T) {
	t.Parallel()
	once := func(t *testing.T, r *rig, a callResult, beginning string) {
		t.Helper()
		if n := strings.Count(a.Text, beginning); n != 1 || len(r.up.Seen()) != 1 {
			t.Errorf("%d beginnings, %d calls:\n%s", n, len(r.up.Seen()), a.Text)
		}
	}
	t.Run("the provider's own error", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		once(t, r, r.call("POST", "/v1/chat/completions", streamedChat, r.continued("fault:error-mid@3", "gpt-4o")), `"role":"assistant"`)
	})
	t.Run("in a tool call", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		first := events(chunk(`{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"pay","arguments":""}}]}`),
			chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"sum\":1"}}]}`))
		first.End = upstream.Close
		r.up.Handle("/v1/chat/completions", upstream.InTurn(first))
		a := r.call("POST", "/v1/chat/completions", streamedChat, r.continued("gpt-4o", "gpt-4o"))
		once(t, r, a, `"role":"assistant"`)
		if !strings.Contains(a.Text, `data: {"error":{`) {
			t.Errorf("nothing says that it was cut:\n%s", a.Text)
		}
	})
	t.Run("messages", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		first := events("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude\",\"content\":[],\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n",
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n")
		first.End = upstream.Close
		r.up.Handle("/v1/messages", upstream.Always(first))
		target := fmt.Sprintf(`{"provider":"anthropic","api_key":"k","custom_host":"%s/v1"}`, r.up.URL())
		once(t, r, r.call("POST", "/v1/messages", `{"model":"claude-opus-4-5","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"x"}]}`,
			`x-gateway-config: {"continue_stream":true,"strategy":{"mode":"fallback"},"targets":[`+target+","+target+`]}`), "event: message_start")
	})
}

// No answer, or one that breaks off, counts whatever failure_status_codes says.
func TestBreakerCountsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"fault:reset", "fault:cut-stream@3", "fault:no-events"} {
		r := newRig(t)
		cfg := r.targets(`,"cb_config":{"failure_threshold":1,"cooldown_interval":60000,"failure_status_codes":[429,500]}`, fault, "gpt-4o")
		for range 3 {
			r.call("POST", "/v1/chat/completions", streamedChat, "x-gateway-config: "+cfg)
		}
		if open := r.gateway.Engine.OpenBreakers(); len(open) != 1 {
			t.Errorf("%s: %d open circuits; %+v", fault, len(open), r.gateway.Engine.Breakers(""))
		}
	}
}

// A retry behind a stream that began with an error answers for itself.
func TestRetryForgetsWhatFailed(t *testing.T) {
	t.Parallel()
	failed := events("data: " + `{"error":{"message":"STALE overloaded","type":"overloaded_error","code":"overloaded"}}` + "\n\n")
	for name, second := range map[string]upstream.Response{
		"whole": upstream.JSON(200, []byte(`{"id":"c","object":"chat.completion","created":1,"model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"FRESH"},"finish_reason":"stop"}]}`)),
		"error": upstream.OpenAIError(400, "invalid_request_error", "", "FRESH refusal"),
	} {
		r := newRig(t)
		r.up.Handle("/v1/chat/completions", upstream.InTurn(failed, second))
		a := r.call("POST", "/v1/chat/completions", streamedChat,
			fmt.Sprintf(`x-gateway-config: {"retry":{"attempts":1},"provider":"openai","api_key":"k","custom_host":"%s/v1"}`, r.up.URL()))
		if strings.Contains(a.Text, "STALE") || !strings.Contains(a.Text, "FRESH") {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.Text)
		}
	}
}

// A panic behind the reservation gives back what is held, and the call is on record.
func TestPanicIsSettled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 100)}})
	r.gateway.Client = nil // to panic when the call is sent
	r.gateway.Reassemble()
	if a := r.call("POST", "/v1/chat/completions", hello, r.custom()...); a.StatusCode != 500 {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	if missing := r.missingRecords(plan, 1); missing != "" {
		t.Error(missing)
	}
}
