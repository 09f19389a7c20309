package gateway_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sluice/internal/test/upstream"
)

// A record of an error that the provider answered with has its code and message, on typed
// routes, on translated ones and on those that are passed through. Credentials in it are
// masked, and without bodies it has no message, which may quote the prompt.
func TestRecordOfAProviderError(t *testing.T) {
	t.Parallel()
	const (
		body     = `{"error":{"message":"bad key sk-given-0123456789","type":"auth","code":"invalid_api_key"}}`
		complete = "provider_error: openai error: bad key *** (invalid_api_key)"
		silent   = "provider_error: the provider responded with status 401 (invalid_api_key)"
	)
	for _, c := range []struct {
		name, path, asks, goes string
		response               upstream.Response
		headers                []string
		want                   string
	}{
		{"typed", "/v1/chat/completions", hello, "/v1/chat/completions", upstream.JSON(401, []byte(body)), nil, complete},
		{"passed through", "/v1/anything/else", `{"a":1}`, "/v1/anything/else", upstream.JSON(401, []byte(body)), nil, complete},
		{"translated", "/v1/messages", `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"Hi"}]}`, "/v1/chat/completions", upstream.JSON(401, []byte(body)), nil, complete},
		{"a stream that was wanted", "/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}`, "/v1/chat/completions", upstream.JSON(401, []byte(body)), nil, complete},
		{"not JSON", "/v1/chat/completions", hello, "/v1/chat/completions", upstream.JSON(503, []byte("busy")), nil, `provider_error: Invalid response received from openai: {"html-message":"busy"}`},
		{"empty", "/v1/chat/completions", hello, "/v1/chat/completions", upstream.JSON(503, []byte("")), nil, "provider_error: the provider responded with status 503"},
		{"without bodies", "/v1/chat/completions", hello, "/v1/chat/completions", upstream.JSON(401, []byte(body)), []string{"x-gateway-debug: false"}, silent},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle(c.goes, upstream.Always(c.response))
			a := r.call("POST", c.path, c.asks, append(c.headers, "x-gateway-provider: openai", "authorization: Bearer sk-given-0123456789", "x-gateway-custom-host: "+r.up.URL()+"/v1")...)
			assert.GreaterOrEqual(t, a.StatusCode, 400)
			assert.Equal(t, c.want, r.journal.one(t).Error)
		})
	}
}
