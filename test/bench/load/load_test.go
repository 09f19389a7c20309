package load_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"sluice/internal/test/upstream"
	"sluice/internal/test/upstream/responder"
	"sluice/internal/test/upstream/testcert"
	"sluice/test/bench/load"
)

const limit = 20 * time.Second

// serve starts the benchmark's upstream in this process.
func serve(t *testing.T, o responder.Options, secure bool) (*responder.Responder, string, *tls.Config) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := responder.New(o)
	run := func(ctx context.Context) error { return r.Serve(ctx, ln) }
	var client *tls.Config
	if secure {
		auth, err := testcert.New(testcert.Options{})
		if err != nil {
			t.Fatal(err)
		}
		client = &tls.Config{RootCAs: auth.Pool(), ServerName: "127.0.0.1"}
		run = func(ctx context.Context) error { return r.ServeTLS(ctx, ln, auth.Config("http/1.1")) }
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r, ln.Addr().String(), client
}

func request(path, body string) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

func run(t *testing.T, j load.Job) *load.Result {
	t.Helper()
	j.Limit = limit
	f, err := load.Open(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return f.Run(t.Context())
}

// Every kind of load counts exactly what the upstream counts.
func TestCountsAgreeWithTheUpstream(t *testing.T) {
	t.Parallel()
	chat := request("/v1/chat/completions", `{"model":"bench","messages":[]}`)
	stream := request("/v1/chat/completions", `{"model":"bench","stream":true}`)
	for _, c := range []struct {
		name   string
		o      responder.Options
		j      load.Job
		secure bool
		sent   int64 // 0: any but none
	}{
		{name: "a number on each connection", j: load.Job{Request: chat, Body: 1024, Conns: 3, Unmeasured: 2, Each: 5}, sent: 15},
		{name: "for a time", j: load.Job{Request: chat, Conns: 3, For: 20 * time.Millisecond}},
		{name: "by the clock", j: load.Job{Request: chat, Conns: 4, Rate: 500, For: 40 * time.Millisecond}, sent: 20},
		{name: "streams", o: responder.Options{Chunks: 7}, j: load.Job{Request: stream, Events: 7, Conns: 2, Each: 3, Ramp: time.Millisecond}, sent: 6},
		{name: "TLS", j: load.Job{Request: chat, Body: 1024, Conns: 2, Each: 2}, secure: true, sent: 4},
	} {
		r, addr, secure := serve(t, c.o, c.secure)
		c.j.Addr, c.j.TLS = addr, secure
		got := run(t, c.j)
		up := r.Stats()
		if got.Failed != 0 || up.Requests != got.Answered() || up.Broken != 0 {
			t.Errorf("%s: %+v, upstream %+v", c.name, got, up)
		}
		if got.Sent != c.sent && c.sent != 0 || got.Sent == 0 || got.Latency.Count() != got.Sent {
			t.Errorf("%s: sent %d, %d latencies, want %d", c.name, got.Sent, got.Latency.Count(), c.sent)
		}
		if want := got.Sent * int64(c.j.Events); got.Delay.Count() != want {
			t.Errorf("%s: %d delays, want %d", c.name, got.Delay.Count(), want)
		}
		if got.Took <= 0 || got.PerSecond() <= 0 {
			t.Errorf("%s: took %v", c.name, got.Took)
		}
	}
}

// A target that stalls cannot hide it: requests wait for the only connection, and
// the wait counts.
func TestPacedLatencyCountsFromWhenARequestIsDue(t *testing.T) {
	t.Parallel()
	_, addr, _ := serve(t, responder.Options{Delay: 20 * time.Millisecond}, false)
	got := run(t, load.Job{Addr: addr, Request: request("/v1/embeddings", "{}"), Conns: 1, Rate: 200, For: 50 * time.Millisecond})
	if got.Sent != 10 || got.Latency.Max() < 100*time.Millisecond {
		t.Errorf("%d requests, the slowest took %v; ten of 20 ms on one connection leave the last waiting", got.Sent, got.Latency.Max())
	}
}

func TestFailuresAreCountedByKind(t *testing.T) {
	t.Parallel()
	r, addr, _ := serve(t, responder.Options{Chunks: 3}, false)
	for want, j := range map[string]load.Job{
		"an answer of the wrong length":         {Request: request("/v1/chat/completions", "{}"), Body: 7},
		"a stream that lacks events or its end": {Request: request("/v1/chat/completions", `{"stream":true}`), Events: 4},
		"status 400":                            {Request: []byte("GET / SPDY/1\r\n\r\n")},
	} {
		j.Addr, j.Conns, j.Each = addr, 1, 2
		if got := run(t, j); got.Failed != 2 || got.Failures[want] != 2 || got.Answered() != 0 || got.Latency.Count() != 0 {
			t.Errorf("%s: %+v", want, got.Failures)
		}
	}
	if r.Stats().Requests == 0 {
		t.Error("nothing reached the upstream")
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	addr := strings.TrimPrefix(upstream.Refused(t), "http://")
	if _, err := load.Open(t.Context(), load.Job{Addr: addr, Conns: 3, Each: 1, Limit: limit}); err == nil {
		t.Error("connected to a closed port")
	}
}
