package gateway_test

import (
	"bytes"
	"strings"
	"testing"

	"sluice/internal/limits/ledger"
	"sluice/internal/test/upstream"
)

const refusesUsage = `{"object":"error","message":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{"include_usage":true}}],"code":400}`

// refusing answers with an error as long as a request has a parameter, and with a reply after.
func refusing(has string, status int, text string, response upstream.Response) upstream.Script {
	return func(s upstream.Seen) *upstream.Response {
		if bytes.Contains(s.Body, []byte(has)) {
			refusal := upstream.JSON(status, []byte(text))
			return &refusal
		}
		return &response
	}
}

// A provider that refuses a parameter which the gateway adds gets the request again without
// it, and the next one without it at once. Each call has its own line of the ledger, and none
// counts as a retry.
func TestRefusedParametersOfOursAreLeftOut(t *testing.T) {
	t.Parallel()
	stream := upstream.Stream(speakers[0].events...)
	const claude = `{"model":"claude-opus-4-8","reasoning_effort":"high","max_tokens":4096,"messages":[{"role":"user","content":"Hello"}]}`
	for _, c := range []struct {
		name, provider, path, body, upstream string
		has                                  string // what the gateway adds
		status                               int
		text                                 string
		response                             upstream.Response
		headers                              []string
	}{
		{"usage of a relayed stream", "cerebras", "/v1/chat/completions", `{"model":"m-1","stream":true,"messages":[{"role":"user","content":"Hello"}]}`, "/v1/chat/completions", "include_usage", 400, refusesUsage, stream, nil},
		{"usage beside other options", "cerebras", "/v1/chat/completions", `{"model":"m-1","stream":true,"stream_options":{"include_obfuscation":false},"messages":[{"role":"user","content":"Hello"}]}`, "/v1/chat/completions", "include_usage", 422, refusesUsage, stream, nil},
		{"usage of a translated stream", "cerebras", "/v1/messages", `{"model":"m-1","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"Hello"}]}`, "/v1/chat/completions", "include_usage", 422, refusesUsage, stream, nil},
		{"store of Responses", "openai", "/v1/chat/completions", surfaces["chat"].body, "/v1/responses", `"store"`, 400, `{"error":{"message":"Unknown parameter: 'store'.","type":"invalid_request_error","param":"store","code":"unknown_parameter"}}`, upstream.JSON(200, []byte(responded)), []string{"x-gateway-beta: use-responses-api-2026-07-30"}},
		{"display of Claude", "anthropic", "/v1/chat/completions", claude, "/v1/messages", `"display"`, 400, `{"type":"error","error":{"type":"invalid_request_error","message":"thinking.adaptive.display: Extra inputs are not permitted"}}`, upstream.JSON(200, []byte(claudeResponse)), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle(c.upstream, refusing(c.has, c.status, c.text, c.response))
			account := r.saved("main", c.provider, "/v1")
			account.RecordID = "p-1"
			headers := append(c.headers, `x-gateway-config: {"provider":"@main","retry":{"attempts":3,"on_status_codes":[400,422]}}`)
			a := r.call("POST", c.path, c.body, headers...)
			seen := r.up.Seen()
			if a.StatusCode != 200 || len(seen) != 2 || a.Header.Get("x-gateway-retry-attempt-count") != "0" {
				t.Fatalf("%d calls, %d %v %s", len(seen), a.StatusCode, a.Header, a.Text)
			}
			if !bytes.Contains(seen[0].Body, []byte(c.has)) || bytes.Contains(seen[1].Body, []byte(c.has)) {
				t.Errorf("sent %s\nthen %s", seen[0].Body, seen[1].Body)
			}
			if strings.Contains(c.body, "include_obfuscation") && !bytes.Contains(seen[1].Body, []byte("include_obfuscation")) {
				t.Errorf("the caller's own option is gone: %s", seen[1].Body)
			}
			lines := r.journal.ledger()
			if len(lines) != 4 || lines[1].State != ledger.Released || lines[2].ID == lines[0].ID || lines[3].State != ledger.Settled {
				t.Errorf("ledger: %+v", lines)
			}
			if a := r.call("POST", c.path, c.body, headers...); a.StatusCode != 200 || len(r.up.Seen()) != 3 {
				t.Errorf("after that %d calls: %d %s", len(r.up.Seen())-2, a.StatusCode, a.Text)
			}
		})
	}
}

// What the caller sends itself is never left out, and an error that names no parameter of the
// gateway's is given as it came, as a whole.
func TestParametersOfTheCallerStay(t *testing.T) {
	t.Parallel()
	long := `{"error":{"message":"messages[0] is not valid","detail":"` + strings.Repeat("x", 100<<10) + `"}}`
	for _, c := range []struct{ name, body, text, message string }{
		{"the caller's usage", `{"model":"m-1","stream":true,"stream_options":{"include_usage":true},"messages":[]}`, refusesUsage, "Extra inputs"},
		{"no stream", `{"model":"m-1","messages":[]}`, refusesUsage, "Extra inputs"},
		{"another error", `{"model":"m-1","stream":true,"messages":[]}`, long, "messages[0] is not valid"},
	} {
		r := newRig(t)
		r.up.Handle("/v1/chat/completions", upstream.Always(upstream.JSON(400, []byte(c.text))))
		a := r.call("POST", "/v1/chat/completions", c.body, r.custom()...)
		if a.StatusCode != 400 || r.up.Total() != 1 || !strings.Contains(a.Text, c.message) {
			t.Errorf("%s: %d calls, %d %.300s", c.name, r.up.Total(), a.StatusCode, a.Text)
		}
	}
}

// A provider that refuses the request without the parameter, too, is asked twice, and nothing is
// remembered of it.
func TestRefusalThatStaysIsGiven(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/chat/completions", upstream.Always(upstream.JSON(400, []byte(refusesUsage))))
	for n := 1; n <= 2; n++ {
		a := r.call("POST", "/v1/chat/completions", `{"model":"m-1","stream":true,"messages":[]}`, r.custom()...)
		if a.StatusCode != 400 || r.up.Total() != 2*n || !strings.Contains(a.Text, "Extra inputs") {
			t.Errorf("%d calls, %d %s", r.up.Total(), a.StatusCode, a.Text)
		}
	}
}

// Some servers begin a stream before they read the parameters.
func TestRefusalInTheFirstEvent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	refusal := upstream.Stream("data: {\"error\":{\"message\":\"stream_options is not supported\",\"code\":400}}\n\n")
	stream := upstream.Stream(speakers[0].events...)
	r.up.Handle("/v1/chat/completions", func(s upstream.Seen) *upstream.Response {
		if bytes.Contains(s.Body, []byte("include_usage")) {
			return &refusal
		}
		return &stream
	})
	a := r.call("POST", "/v1/chat/completions", `{"model":"m-1","stream":true,"messages":[]}`, r.custom()...)
	if a.StatusCode != 200 || r.up.Total() != 2 || !strings.HasSuffix(a.Text, "data: [DONE]\n\n") || strings.Contains(a.Text, "stream_options") {
		t.Errorf("%d calls, %d %s", r.up.Total(), a.StatusCode, a.Text)
	}
}
