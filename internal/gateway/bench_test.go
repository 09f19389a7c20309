package gateway_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/wire"
	"sluice/internal/limits/ledger"
	"sluice/internal/test/upstream/responder"
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

func (nowhere) AppendLine(*ledger.Entry) error { return nil }

func (nowhere) AppendHooks(*record.LateHooks) error { return nil }
func (nowhere) Append(*record.Attempt) error        { return nil }

// bench is a gateway before an upstream that allocates next to nothing, its address, and
// a function that sends a request through it.
func bench(tb testing.TB) (host string, serve func(*wire.Request)) {
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
	g.Reassemble()
	return "http://" + ln.Addr().String(), func(req *wire.Request) {
		var out sink
		if err := g.Serve(ctx, req, &out); err != nil || out.status != 200 {
			tb.Fatal(out.status, err)
		}
	}
}

// benchChat sends a chat of 0.7 KB, answered with 1 KB.
func benchChat(tb testing.TB) func() {
	tb.Helper()
	host, serve := bench(tb)
	body := strings.Replace(hello, "Hello there", strings.Repeat("Hello there. ", 50), 1)
	return func() { serve(chatRequest(host+"/v1", body)) }
}

func BenchmarkChat(b *testing.B) {
	chat := benchChat(b)
	b.ReportAllocs()
	for b.Loop() {
		chat()
	}
}

// tooled is a conversation of 1 KB with tools.
var tooled = `{"model":"claude-sonnet-4-5","max_tokens":512,"temperature":0.2,"tools":[` +
	`{"type":"function","function":{"name":"find","description":"Looks something up","parameters":{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}}},` +
	`{"type":"function","function":{"name":"tell","description":"Tells somebody","parameters":{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}}}],` +
	`"messages":[{"role":"system","content":"You are a helpful assistant."},{"role":"user","content":"` + strings.Repeat("lorem ipsum ", 20) + `"},` +
	`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":"{\"q\":\"x\"}"}}]},` +
	`{"role":"tool","tool_call_id":"c1","content":"` + strings.Repeat("found ", 20) + `"},{"role":"user","content":"So what is it?"}]}`

// benchConversation sends that conversation to a provider, whose config is made of the host.
func benchConversation(tb testing.TB, config string) func() {
	tb.Helper()
	host, serve := bench(tb)
	config = strings.ReplaceAll(config, "HOST", host)
	return func() {
		serve(&wire.Request{
			Method: "POST", Path: "/v1/chat/completions", Body: strings.NewReader(tooled), Length: int64(len(tooled)), Remote: "127.0.0.1",
			Header: wire.Header{
				{Name: "x-gateway-api-key", Value: key}, {Name: "x-gateway-config", Value: config}, {Name: "content-type", Value: "application/json"},
			},
		})
	}
}

// tellings are a provider that is told the conversation as it came, and two in whose
// words it is put.
var tellings = []struct{ provider, config string }{
	{"openai", `{"provider":"openai","api_key":"sk-upstream","custom_host":"HOST/v1"}`},
	{"anthropic", `{"provider":"anthropic","api_key":"sk-upstream","custom_host":"HOST/v1"}`},
	{"bedrock", `{"provider":"bedrock","aws_access_key_id":"AKIDEXAMPLE","aws_secret_access_key":"upstream","aws_region":"us-east-1","custom_host":"HOST"}`},
}

func BenchmarkTold(b *testing.B) {
	for _, c := range tellings {
		b.Run(c.provider, func(b *testing.B) {
			call := benchConversation(b, c.config)
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
		})
	}
}
