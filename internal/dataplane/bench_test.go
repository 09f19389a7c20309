package dataplane_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"sluice/internal/record"
	"sluice/internal/wire"
	"sluice/test/upstream/responder"
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

// nowhere is a journal that keeps nothing.
type nowhere struct{}

func (nowhere) Append(*record.Attempt) error { return nil }

// benchChat is a gateway before an upstream that allocates next to nothing, and a
// function that sends a chat of 0.7 KB, answered with 1 KB, through it.
func benchChat(tb testing.TB) func() {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- responder.New(responder.Options{}).Serve(ctx, ln) }()
	tb.Cleanup(func() {
		stop()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			tb.Error(err)
		}
	})
	g := newRig(tb).gateway
	g.Journal = nowhere{}
	host, body := "http://"+ln.Addr().String()+"/v1", strings.Replace(hello, "Hello there", strings.Repeat("Hello there. ", 50), 1)
	return func() {
		var out sink
		if err := g.Serve(ctx, chatRequest(host, body), &out); err != nil || out.status != 200 {
			tb.Fatal(out.status, err)
		}
	}
}

func BenchmarkChat(b *testing.B) {
	chat := benchChat(b)
	b.ReportAllocs()
	for b.Loop() {
		chat()
	}
}
