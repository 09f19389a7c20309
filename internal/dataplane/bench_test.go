package dataplane_test

import (
	"context"
	"strings"
	"testing"

	"sluice/internal/wire"
	"sluice/test/upstream"
)

// sink is a Responder that keeps nothing.
type sink struct{ status int }

func (s *sink) Head(status int, _ wire.Header, _ int64) error { s.status = status; return nil }
func (s *sink) Write(p []byte) (int, error)                   { return len(p), nil }
func (s *sink) Flush() error                                  { return nil }

// chatRequest is a plain chat call as a front hands it over.
func chatRequest(host, body string) *wire.Request {
	return &wire.Request{
		Method: "POST", Path: "/v1/chat/completions", Body: strings.NewReader(body), Length: int64(len(body)), Remote: "127.0.0.1",
		Header: wire.Header{
			{Name: "x-gateway-api-key", Value: key}, {Name: "x-gateway-provider", Value: "openai"}, {Name: "authorization", Value: "Bearer sk-upstream"},
			{Name: "x-gateway-custom-host", Value: host}, {Name: "content-type", Value: "application/json"}, {Name: "user-agent", Value: "bench"},
		},
	}
}

func BenchmarkChat(b *testing.B) {
	r := newRig(b)
	r.up.On("/v1/chat/completions", upstream.Always(upstream.JSON(200, []byte(`{"id":"chatcmpl-1","object":"chat.completion","model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":"`+strings.Repeat("word ", 150)+`"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":150,"total_tokens":159}}`))))
	body := strings.Replace(hello, "Hello there", strings.Repeat("Hello there. ", 50), 1)
	host := r.up.URL() + "/v1"
	b.ReportAllocs()
	for b.Loop() {
		var out sink
		if err := r.gateway.Serve(context.Background(), chatRequest(host, body), &out); err != nil || out.status != 200 {
			b.Fatal(out.status, err)
		}
	}
}
