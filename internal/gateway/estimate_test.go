package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"sluice/internal/kernel/llm"
	"sluice/internal/test/upstream"
)

// Where the provider counts nothing the gateway estimates, without a call.
func TestEstimatedTokens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, body, provider, want string }{
		"messages": {"/v1/messages/count_tokens", `{"model":"gpt-4o","messages":[{"role":"user","content":"Hello there"}]}`, "cerebras", `{"input_tokens":9,"provider":"cerebras"}`},
		"of the model that the config puts in": {"/v1/messages/count_tokens", `{"model":"gpt-4o","system":"Hello there","messages":[{"role":"user","content":[{"type":"text","text":"Hello there"}]}],"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}]}`, "groq",
			`{"input_tokens":36,"provider":"groq"}`},
		"responses":                  {"/v1/responses/input_tokens", `{"model":"gpt-4o","input":"Hello there"}`, "cerebras", `{"object":"response.input_tokens","input_tokens":9,"provider":"cerebras"}`},
		"responses to another shape": {"/v1/responses/input_tokens", `{"model":"claude-sonnet-4-5","instructions":"Hello there","input":[{"role":"user","content":[{"type":"input_text","text":"Hello there"}]}]}`, "anthropic", `{"object":"response.input_tokens","input_tokens":16,"provider":"anthropic"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			a := r.call("POST", c.path, c.body, r.as(speaker{id: c.provider, base: "/v1"})...)
			if a.StatusCode != 200 || a.Text != c.want || a.Header.Get("x-gateway-estimated") != "true" || a.Header.Get("content-type") != "application/json" {
				t.Errorf("%d %q %s", a.StatusCode, a.Header.Get("x-gateway-estimated"), a.Text)
			}
			if n := len(r.up.Seen()); n != 0 {
				t.Errorf("the provider was asked %d times", n)
			}
			row := r.journal.one(t)
			if row.Status != 200 || row.Outcome != "ok" || row.UpstreamURL != "" || row.Upstream != 0 || row.Usage.Reported || row.Usage.InputTokens != 0 {
				t.Errorf("record %+v", row)
			}
			if string(row.Request.Bytes) != c.body || string(row.Response.Bytes) != a.Text {
				t.Errorf("bodies %s, %s", row.Request.Bytes, row.Response.Bytes)
			}
		})
	}
}

// Each target of a list counts as it can: by asking its provider, or by estimate.
func TestEstimatesInALoop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first     string
		response  upstream.Response
		want      string
		estimated string
	}{
		"the first counts":           {"anthropic", upstream.JSON(200, []byte(`{"input_tokens":5}`)), `{"input_tokens":5,"provider":"anthropic"}`, ""},
		"the first is down":          {"anthropic", upstream.JSON(503, []byte(`{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`)), `{"input_tokens":9,"provider":"cerebras"}`, "true"},
		"the first has no chats":     {"voyage", upstream.JSON(500, nil), `{"input_tokens":9,"provider":"cerebras"}`, "true"},
		"the first is the one to be": {"cerebras", upstream.JSON(500, nil), `{"input_tokens":9,"provider":"cerebras"}`, "true"},
	} {
		r := newRig(t)
		r.up.Handle("/v1/messages/count_tokens", upstream.Always(c.response))
		var targets []string
		for _, id := range []string{c.first, "cerebras"} {
			targets = append(targets, `{"provider":"`+id+`","api_key":"k","custom_host":"`+r.up.URL()+`/v1","override_params":{"model":"gpt-4o"}}`)
		}
		a := r.call("POST", "/v1/messages/count_tokens", surfaces["messages"].body, `x-gateway-config: {"strategy":{"mode":"fallback"},"targets":[`+strings.Join(targets, ",")+`]}`)
		if a.StatusCode != 200 || a.Text != c.want || a.Header.Get("x-gateway-estimated") != c.estimated {
			t.Errorf("%s: %d %q %s", name, a.StatusCode, a.Header.Get("x-gateway-estimated"), a.Text)
		}
	}
}

// What cannot be counted is refused as the conversation itself would be. It is 400, so
// that clients who retry do not.
func TestUncountedTokens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, body, provider, want string }{
		"no conversations": {"/v1/messages/count_tokens", surfaces["messages"].body, "voyage", "messagesCountTokens is not supported by voyage"},
		"none of these":    {"/v1/responses/input_tokens", `{"model":"m","input":"Hi"}`, "voyage", "countResponseInputTokens is not supported by voyage"},
		"no messages":      {"/v1/messages/count_tokens", `{"model":"m"}`, "cerebras", "messages is required"},
		"no model":         {"/v1/messages/count_tokens", `{"messages":[{"role":"user","content":"Hi"}]}`, "cerebras", "model is required"},
		"no model either":  {"/v1/responses/input_tokens", `{"input":"Hi"}`, "cerebras", "model is required"},
		"nothing":          {"/v1/responses/input_tokens", `{"model":"m"}`, "cerebras", "input is required"},
		"no such role":     {"/v1/messages/count_tokens", `{"model":"m","messages":[{"role":"king","content":"Hi"}]}`, "cerebras", "messages[0]"},
		"no such response": {"/v1/responses/input_tokens", `{"model":"m","input":"Hi","previous_response_id":"resp_gw1"}`, "cerebras", "previous_response_id"},
		"no JSON":          {"/v1/messages/count_tokens", `Hi`, "cerebras", "JSON"},
	} {
		r := newRig(t)
		a := r.call("POST", c.path, c.body, r.as(speaker{id: c.provider, base: "/v1"})...)
		if a.StatusCode != http.StatusBadRequest || !strings.Contains(a.Text, c.want) || a.Header.Get("x-gateway-estimated") != "" {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.Text)
		}
	}
}

// A provider with a count of its own is asked, byte for byte.
func TestNativeCountOfResponses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/responses/input_tokens", upstream.Always(upstream.JSON(200, []byte(`{"object":"response.input_tokens","input_tokens":11}`))))
	body := `{ "input":"Hello there", "model":"gpt-4o"}`
	a := r.call("POST", "/v1/responses/input_tokens", body, r.custom()...)
	if a.StatusCode != 200 || !strings.Contains(a.Text, `"input_tokens":11`) || a.Header.Get("x-gateway-estimated") != "" {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	if seen := r.up.Seen(); len(seen) != 1 || string(seen[0].Body) != body {
		t.Errorf("sent %+v", seen)
	}
	if row := r.journal.one(t); row.Endpoint != llm.CountResponseInputTokens || row.UpstreamURL == "" {
		t.Errorf("record %+v", row)
	}
}
