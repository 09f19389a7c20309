package transport_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

// chatCall is a chat request of about 1 KB as the data plane sends it.
func chatCall(r transport.Request) transport.Request {
	r = post(r, wire.Bytes(bytes.Repeat([]byte("x"), 690)))
	r.Header = wire.Header{
		{Name: "authorization", Value: "Bearer sk-0123456789abcdef0123456789abcdef"}, {Name: "content-type", Value: "application/json"},
		{Name: "accept", Value: "application/json"}, {Name: "user-agent", Value: "OpenAI/Python 1.99.0"}, {Name: "accept-encoding", Value: "gzip, br"},
	}
	return r
}

// chatResponse is the head and body of its answer.
var chatResponse = okHead + "content-type: application/json\r\ndate: Thu, 05 Nov 2026 10:00:00 GMT\r\nx-request-id: req_0123456789\r\n" +
	"openai-processing-ms: 12\r\nserver: test\r\ncontent-length: 1000\r\n\r\n" + string(bytes.Repeat([]byte("y"), 1000))

// replies answers each read without allocating, so that only the client is
// measured.
func replies(response []byte) script {
	return func(_ testing.TB, c *peerConn) {
		for p := make([]byte, 8192); ; {
			if _, err := c.Read(p); err != nil {
				return
			}
			if _, err := c.Write(response); err != nil {
				return
			}
		}
	}
}

// TestAllocations is the recorded baseline of the hot path: response with body,
// header list and header text; and for a context that can end, its watch.
func TestAllocations(t *testing.T) {
	r := chatCall(newPeer(t, replies([]byte(chatResponse))))
	r.HeadTimeout, r.IdleTimeout = time.Minute, time.Minute
	c := newClient(t, transport.Options{})
	p := make([]byte, 4096)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, tc := range map[string]struct {
		ctx   context.Context
		limit float64
	}{
		"context that never ends": {context.Background(), 3},
		"context that can end":    {ctx, 4}, // watched only when the answer takes long
	} {
		n := testing.AllocsPerRun(200, func() {
			resp, err := c.Do(tc.ctx, &r)
			if err != nil {
				t.Fatal(err)
			}
			for err == nil {
				_, err = resp.Body.Read(p)
			}
			if err != io.EOF {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
		})
		if n > tc.limit {
			t.Errorf("%s: %.0f allocations, the baseline is %.0f", name, n, tc.limit)
		}
	}
}

// exchange is one call whose answer is read and dropped.
type exchange func(ctx context.Context, r *transport.Request, p []byte) error

// viaClient calls with a Client.
func viaClient(c *transport.Client) exchange {
	return func(ctx context.Context, r *transport.Request, p []byte) error {
		resp, err := c.Do(ctx, r)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		for err == nil {
			_, err = resp.Body.Read(p)
		}
		if err != io.EOF {
			return err
		}
		return nil
	}
}

// viaNetHTTP calls with net/http, for comparison.
func viaNetHTTP(tr *http.Transport) exchange {
	return func(ctx context.Context, r *transport.Request, p []byte) error {
		body, _ := r.Body.Memory()
		req, err := http.NewRequestWithContext(ctx, r.Method, "http://"+r.Host+r.Target, bytes.NewReader(body))
		if err != nil {
			return err
		}
		for _, f := range r.Header {
			req.Header.Set(f.Name, f.Value)
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		for err == nil {
			_, err = resp.Body.Read(p)
		}
		if err != io.EOF {
			return err
		}
		return nil
	}
}

// BenchmarkCall compares with net/http: a chat call, and a stream of 100 events
// of which each is a chunk, at 1 and at 64 connections.
func BenchmarkCall(b *testing.B) {
	event := "be\r\ndata: " + strings.Repeat("z", 182) + "\n\n\r\n"
	events := []byte(okHead + "content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n" + strings.Repeat(event, 100) + "0\r\n\r\n")
	for name, response := range map[string][]byte{"chat": []byte(chatResponse), "events": events} {
		r := chatCall(newPeer(b, repeat(replies(response), 300)...))
		r.HeadTimeout, r.IdleTimeout = time.Minute, time.Minute
		for client, do := range map[string]exchange{
			"transport": viaClient(newClient(b, transport.Options{})),
			"net-http":  viaNetHTTP(&http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}),
		} {
			for _, conns := range []int{1, 64} {
				b.Run(fmt.Sprintf("%s/%s/%d", name, client, conns), func(b *testing.B) { measure(b, conns, r, do) })
			}
		}
	}
}

// measure also reports the CPU time of a call, peer included.
func measure(b *testing.B, conns int, r transport.Request, do exchange) {
	b.ReportAllocs()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	before := cpu()
	var wg sync.WaitGroup
	for worker := range conns {
		wg.Go(func() {
			r, p := r, make([]byte, 16<<10)
			for i := worker; i < b.N; i += conns {
				if err := do(ctx, &r, p); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/op")
}

// cpu is the time the process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// repeat is n connections that play the same script.
func repeat(s script, n int) []script {
	all := make([]script, n)
	for i := range all {
		all[i] = s
	}
	return all
}
