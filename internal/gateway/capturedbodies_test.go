package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/test/upstream"
)

// What the client sent and got is kept beside what the upstream got and sent, where it is
// something else.
func TestBothSidesAreKept(t *testing.T) {
	t.Parallel()
	overridden := `{"provider":"openai","api_key":"sk-upstream","custom_host":"HOST/v1","override_params":{"temperature":0}}`
	geminiOverridden := `{"provider":"google","api_key":"AIza-upstream","custom_host":"HOST","override_params":{"temperature":0.25}}`
	stream := strings.Replace(ask, "{", `{"stream":true,`, 1)
	for _, c := range []struct {
		name, body, config string
		gemini             bool
		named              bool
		request, response  bool // the client's is another one
		shaped             string
	}{
		{name: "one shape", body: hello},
		{name: "one shape, edited", body: hello, config: overridden, request: true},
		{name: "one shape, named", body: hello, config: `{"provider":"groq","api_key":"sk-upstream","custom_host":"HOST/v1"}`, named: true},
		{name: "one shape, streamed", body: strings.Replace(hello, "{", `{"stream":true,"stream_options":{"include_usage":true},`, 1)},
		{name: "translated", body: ask, gemini: true, request: true, response: true},
		{name: "translated, streamed", body: stream, gemini: true, request: true, response: true},
		{name: "translated, edited", body: ask, config: geminiOverridden, gemini: true, request: true, response: true, shaped: `"temperature":0.25`},
	} {
		r := newRig(t)
		r.up.Handle(geminiPath, upstream.Always(upstream.JSON(200, []byte(geminiResponse))))
		r.up.Handle(geminiStream, upstream.Always(events("data: "+geminiResponse+"\n\n")))
		headers := r.custom()
		switch {
		case c.gemini && c.config == "":
			headers = r.gemini()
		case c.config != "":
			headers = []string{"x-gateway-config: " + strings.ReplaceAll(c.config, "HOST", r.up.URL())}
		}
		a := r.call("POST", "/v1/chat/completions", c.body, headers...)
		row, seen := r.journal.one(t), r.up.Seen()[0]
		if a.StatusCode != 200 || string(row.Request.Bytes) != string(seen.Body) {
			t.Errorf("%s: %d, sent %s, kept %s", c.name, a.StatusCode, seen.Body, row.Request.Bytes)
		}
		if row.ClientRequest.Other() != c.request || c.request && string(row.ClientRequest.Bytes) != c.body {
			t.Errorf("%s: the client's request is kept as %s", c.name, row.ClientRequest.Bytes)
		}
		if row.Named != c.named || row.ClientResponse.Other() != c.response || c.response && string(row.ClientResponse.Bytes) != a.Text {
			t.Errorf("%s: the client's answer is kept as %s, named %v; it was %s", c.name, row.ClientResponse.Bytes, row.Named, a.Text)
		}
		if c.gemini && !strings.Contains(string(row.Response.Bytes), `"candidates"`) {
			t.Errorf("%s: the upstream's answer is kept as %s", c.name, row.Response.Bytes)
		}
		if s := string(row.Reshaped.Bytes); row.Reshaped.Other() != (c.shaped != "") || !strings.Contains(s, c.shaped) || row.Translated != c.gemini {
			t.Errorf("%s: in the client's words it was last %s; translated: %v", c.name, s, row.Translated)
		}
		if c.shaped != "" && (!strings.Contains(string(row.Shaped().Bytes), `"messages"`) || !strings.Contains(string(row.Request.Bytes), `"temperature":0.25`)) {
			t.Errorf("%s: in the client's words it was last %s, sent %s", c.name, row.Shaped().Bytes, row.Request.Bytes)
		}
		if len(row.ClientRequest.Bytes) > 0 && row.ClientRequest.Type != "application/json" {
			t.Errorf("%s: type %q", c.name, row.ClientRequest.Type)
		}
	}
}

// An error that the client gets instead of an answer is kept beside the answer.
func TestErrorsAreKeptAsTheClientGotThem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	page := upstream.JSON(200, []byte("<html>Welcome</html>"))
	page.Header = []upstream.Field{{Name: "Content-Type", Value: "text/html"}}
	r.up.Handle("/v1/chat/completions", upstream.Always(page))
	a := r.call("POST", "/v1/chat/completions", hello, r.custom()...)
	row := r.journal.one(t)
	if string(row.Response.Bytes) != "<html>Welcome</html>" || string(row.ClientResponse.Bytes) != a.Text || row.ClientResponse.Type != "application/json" {
		t.Errorf("%d %s is kept as %s, beside %s", a.StatusCode, a.Text, row.ClientResponse.Bytes, row.Response.Bytes)
	}
}

// Header lines of both sides are kept, and nothing in them is secret.
func TestHeadersAreKeptMasked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	response := upstream.JSON(200, []byte(`{"id":"x","object":"chat.completion","choices":[]}`))
	response.Header = append(response.Header, upstream.Field{Name: "Set-Cookie", Value: "s3cr3t=1"}, upstream.Field{Name: "X-Served-By", Value: "edge"}, upstream.Field{Name: "X-Tenant", Value: "s3cr3t"})
	r.up.Handle("/v1/chat/completions", upstream.Always(response))
	secrets := []string{
		"cookie: s3cr3t", "x-api-key: s3cr3t", "api-key: s3cr3t", "x-goog-api-key: s3cr3t", "x-amz-security-token: s3cr3t", "proxy-authorization: Basic s3cr3t",
		"x-gateway-aws-secret-access-key: s3cr3t", "x-gateway-vertex-service-account-json: s3cr3t", "x_secret_thing: s3cr3t", "x-tenant: s3cr3t",
		"x-callback: https://user:s3cr3t@host/", "x-next: https://host/?sig=s3cr3t", "x-gateway-sensitive-headers: x-tenant, X-Other",
	}
	a := r.call("POST", "/v1/chat/completions", hello, r.custom(append(secrets, "x-plain: shown", "x-other: s3cr3t")...)...)
	row := r.journal.one(t)
	for name, c := range map[string]struct {
		body record.Body
		want []string
	}{
		"client's request":  {row.ClientRequest, []string{"x-plain: shown\n", "x-tenant: ***\n", "x-other: ***\n", "cookie: ***\n", "authorization: ***\n", "x-gateway-provider: openai\n", "x-callback: ***\n"}},
		"request":           {row.Request, []string{"user-agent: sluice\n", "content-type: application/json\n"}},
		"response":          {row.Response, []string{"x-served-by: edge\n", "set-cookie: ***\n", "x-tenant: ***\n"}},
		"client's response": {row.ClientResponse, []string{"x-served-by: edge\n", "x-gateway-provider: openai\n", "x-gateway-request-id: " + a.Header.Get("x-gateway-request-id") + "\n"}},
	} {
		head := string(c.body.Head)
		for _, want := range c.want {
			if !strings.Contains(head, want) {
				t.Errorf("%s lacks %q: %q", name, want, head)
			}
		}
		for _, secret := range []string{"s3cr3t", "sk-upstream", key} {
			if strings.Contains(head, secret) {
				t.Errorf("%s shows %q: %q", name, secret, head)
			}
		}
	}
	quiet := newRig(t)
	quiet.call("POST", "/v1/chat/completions", ask, quiet.custom("x-gateway-debug: false")...)
	row = quiet.journal.one(t)
	for _, b := range row.Bodies() {
		if len(b.Head)+len(b.Bytes) > 0 {
			t.Errorf("without debug %q and %q are kept", b.Head, b.Bytes)
		}
	}
}
