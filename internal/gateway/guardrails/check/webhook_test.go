package check_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// chat is an input with credentials of the client.
func chat() *check.Input {
	return &check.Input{
		Phase: guardrail.Input, Texts: []string{"Hello", "there"}, Endpoint: llm.ChatComplete, Provider: "openai", Model: "m",
		Body:     []byte(`{"model":"m","messages":[{"role":"user","content":"Hello"}]}`),
		Metadata: map[string]string{"team": "red"}, TraceID: "0af7651916cd43dd8448eb211c80319c", Streaming: true,
		Header: wire.Header{
			{Name: "authorization", Value: "Bearer client-secret"}, {Name: "x-api-key", Value: "client-secret"}, {Name: "cookie", Value: "client-secret"},
			{Name: "x-gateway-api-key", Value: "client-secret"}, {Name: "x-request-id", Value: "r-1"}, {Name: "x-many", Value: "1"}, {Name: "x-many", Value: "2"},
			{Name: "content-type", Value: "text/client-type"}, {Name: "traceparent", Value: "client-trace"}, {Name: "x-other", Value: "client-other"},
		},
	}
}

func TestWebhook_ReceivesTheContextWithoutCredentials(t *testing.T) {
	t.Parallel()
	url, requests := recorder(t, static(200, `{"verdict":true,"data":{"score":1}}`))
	got := run(t, outside(t), "default.webhook", `{"webhookURL":"`+url+`/check?key=hidden","headers":{"X-Key":"k"},"forwardHeaders":["X-Request-Id","x-many","content-type","traceparent","x-key"]}`, chat())
	compare(t, &got, true, "", `{"verdict":true,"responseData":{"score":1},"webhookUrl":"`+url+`/check"}`)
	r := <-requests
	if r.method != "POST" || r.header.Get("X-Key") != "k" || r.header.Get("X-Request-Id") != "r-1" || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("request %s %v", r.method, r.header)
	}
	if got := r.header.Values("X-Many"); len(got) != 2 {
		t.Errorf("x-many %v, want both values", got)
	}
	if p := r.header.Get("Traceparent"); !strings.HasPrefix(p, "00-0af7651916cd43dd8448eb211c80319c-") || len(p) != 55 {
		t.Errorf("traceparent %q", p)
	}
	for name, values := range r.header {
		if strings.Contains(strings.Join(values, " "), "client-") {
			t.Errorf("header %s of the client was sent", name)
		}
	}
	compareMembers(t, r.body, `{"eventType":"beforeRequestHook","provider":"openai","requestType":"chatComplete","metadata":{"team":"red"},
		"request":{"json":{"model":"m","messages":[{"role":"user","content":"Hello"}]},"text":"Hello\nthere","isStreamingRequest":true,"isTransformed":false},
		"response":{"json":null,"text":"","statusCode":null,"isTransformed":false}}`)
}

func TestWebhook_ReceivesTheResponseInTheOutputPhase(t *testing.T) {
	t.Parallel()
	url, requests := recorder(t, static(200, `{"verdict":false}`))
	in := chat()
	in.Phase, in.Request, in.Status, in.Texts, in.Transformed = guardrail.Output, in.Body, 200, []string{"Hi"}, true
	in.Body = []byte(`{"choices":[]}`)
	got := run(t, outside(t), "default.webhook", `{"webhookURL":"`+url+`"}`, in)
	compare(t, &got, false, "", `{"verdict":false}`)
	compareMembers(t, (<-requests).body, `{"eventType":"afterRequestHook",
		"request":{"json":{"model":"m","messages":[{"role":"user","content":"Hello"}]},"text":"Hello","isStreamingRequest":true,"isTransformed":false},
		"response":{"json":{"choices":[]},"text":"Hi","statusCode":200,"isTransformed":true}}`)
}

func TestWebhook_ReplacesTheBody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, response, body, failure string
		phase                         guardrail.Phase
	}{
		{"request", `{"verdict":true,"transformedData":{"request":{"json":{"a":1}}}}`, `{"a":1}`, "", guardrail.Input},
		{"response", `{"verdict":true,"transformedData":{"response":{"json":{"a":2}}}}`, `{"a":2}`, "", guardrail.Output},
		{"the other phase", `{"verdict":true,"transformedData":{"response":{"json":{"a":2}}}}`, "", "", guardrail.Input},
		{"null", `{"verdict":true,"transformedData":{"request":{"json":null}}}`, "", "", guardrail.Input},
		{"a list", `{"verdict":true,"transformedData":{"request":{"json":[1]}}}`, "", "must be a JSON object", guardrail.Input},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url, _ := recorder(t, static(200, c.response))
			in := chat()
			in.Phase = c.phase
			got := run(t, outside(t), "default.webhook", `{"webhookURL":"`+url+`"}`, in)
			compare(t, &got, c.failure == "", c.failure, "")
			if string(got.Body) != c.body {
				t.Errorf("body %s, want %s", got.Body, c.body)
			}
		})
	}
}

// A service that fails or lies is an error of the check.
func TestWebhook_FailuresAreErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		respond http.HandlerFunc
		failure string
		data    string
	}{
		{"status", static(503, `{"error":"down"}`), "HttpError: the service responded with status 503", `{"responseError":{"error":"down"}}`},
		{"status without JSON", static(500, "<html>"), "HttpError: the service responded with status 500", `{"responseError":null}`},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		}, "status 307", ""},
		{"garbage", static(200, "\x00\x01garbage"), "Check error: the response of the webhook must be a JSON object", ""},
		{"no verdict", static(200, `{"data":1}`), `boolean "verdict"`, ""},
		{"a verdict that is a text", static(200, `{"verdict":"true"}`), `boolean "verdict"`, ""},
		{"an empty response", static(200, ""), `boolean "verdict"`, ""},
		{"a response that never ends", hanging, "TimeoutError: the service did not respond in 300 ms", ""},
		{"a response that is shorter than its length", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"verdict":true}`)
		}, "HttpError: the service cannot be called", ""},
		{"a response that is too large", func(w http.ResponseWriter, _ *http.Request) {
			chunk := []byte(strings.Repeat(" ", 1<<20))
			for range 12 {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, "too large", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url, _ := recorder(t, c.respond)
			timeout := "20000"
			if strings.Contains(c.failure, "300 ms") {
				timeout = "300"
			}
			got := run(t, outside(t), "default.webhook", `{"webhookURL":"`+url+`","timeout":`+timeout+`}`, chat())
			compare(t, &got, false, c.failure, c.data)
			if got.Body != nil {
				t.Errorf("body %s, want none", got.Body)
			}
		})
	}
}

func TestWebhook_PrivateAddressesAreRefused(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://169.254.169.254/latest", "http://10.1.2.3/", "http://127.0.0.2/"} {
		got := run(t, outside(t), "default.webhook", `{"webhookURL":"`+url+`"}`, chat())
		compare(t, &got, false, "HttpError: the service cannot be called: the host resolves to", "")
		if strings.Contains(got.Error.Message, "169.254") {
			t.Errorf("the error quotes the address: %s", got.Error.Message)
		}
	}
	got := run(t, nil, "default.webhook", `{"webhookURL":"http://hooks.example.com"}`, chat())
	compare(t, &got, false, "cannot call external services", "")
}

func TestWebhook_RefusesWrongParameters(t *testing.T) {
	t.Parallel()
	runRefusals(t, "default.webhook", refusals{
		`{}`:                                    ".webhookURL: required",
		`{"webhookURL":"ftp://a"}`:              ".webhookURL: must be a URL",
		`{"webhookURL":"http://a","timeout":0}`: ".timeout: an integer from 1",
		`{"webhookURL":"http://a","forwardHeaders":["Cookie"]}`:        ".forwardHeaders[0]: must be omitted",
		`{"webhookURL":"http://a","forwardHeaders":["x-gateway-key"]}`: ".forwardHeaders[0]: must be omitted",
		`{"webhookURL":"http://a","headers":{"a":1}}`:                  ".headers.a: a string",
	})
	refuse(t, "default.webhook", `{"webhookURL":"http://user:pass@a/"}`, "must not contain a user name")
	refuse(t, "default.webhook", `{"webhookURL":"http://a","headers":{"Host":"b"}}`, "must not contain host")
	refuse(t, "default.webhook", `{"webhookURL":"http://a","headers":"{\"a\":\"b\\r\\nc: d\"}"}`, "without control characters")
}

func TestLog_PassesUnlessTheServiceFails(t *testing.T) {
	t.Parallel()
	in := chat()
	in.Phase, in.Status = guardrail.Output, 200
	url, requests := recorder(t, static(201, "thanks"))
	got := run(t, outside(t), "default.log", `{"logURL":"`+url+`","headers":"{\"x-key\":\"k\"}"}`, in)
	compare(t, &got, true, "", "")
	r := <-requests
	var sent map[string]any
	if err := json.Unmarshal(r.body, &sent); err != nil || r.header.Get("X-Key") != "k" || r.header.Get("Authorization") != "" || sent["eventType"] != "afterRequestHook" {
		t.Errorf("request %v %s", r.header, r.body)
	}
	url, _ = recorder(t, static(500, `{"a":1}`))
	got = run(t, outside(t), "default.log", `{"logURL":"`+url+`"}`, in)
	compare(t, &got, false, "HttpError", `{"responseError":{"a":1}}`)
	runRefusals(t, "default.log", refusals{`{}`: ".logURL: required"})
}
