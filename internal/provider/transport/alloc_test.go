package transport_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"sluice/internal/provider/transport"
	"sluice/internal/wire"
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

// chatReply is the head and body of its answer.
var chatReply = okHead + "content-type: application/json\r\ndate: Thu, 05 Nov 2026 10:00:00 GMT\r\nx-request-id: req_0123456789\r\n" +
	"openai-processing-ms: 12\r\nserver: test\r\ncontent-length: 1000\r\n\r\n" + string(bytes.Repeat([]byte("y"), 1000))

// plainPeer answers without allocating, so that only the client is measured.
func plainPeer(_ testing.TB, c *peerConn) {
	p, reply := make([]byte, 8192), []byte(chatReply)
	for {
		if _, err := c.Read(p); err != nil {
			return
		}
		if _, err := c.Write(reply); err != nil {
			return
		}
	}
}

// TestAllocations is the recorded baseline of the hot path: response with body,
// header list and header text; and for a context that can end, its watch.
func TestAllocations(t *testing.T) {
	r := chatCall(newPeer(t, plainPeer))
	r.HeadTimeout, r.IdleTimeout = time.Minute, time.Minute
	c := newClient(t, transport.Options{})
	p := make([]byte, 4096)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, tc := range map[string]struct {
		ctx  context.Context
		most float64
	}{
		"context that never ends": {context.Background(), 3},
		"context that can end":    {ctx, 6},
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
		if n > tc.most {
			t.Errorf("%s: %.0f allocations, the baseline is %.0f", name, n, tc.most)
		}
	}
}

func BenchmarkChat(b *testing.B) {
	r := chatCall(newPeer(b, repeat(plainPeer, 64)...))
	r.HeadTimeout, r.IdleTimeout = time.Minute, time.Minute
	b.Run("transport", func(b *testing.B) {
		c := newClient(b, transport.Options{})
		b.ReportAllocs()
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		p := make([]byte, 4096)
		for b.Loop() {
			resp, err := c.Do(ctx, &r)
			if err != nil {
				b.Fatal(err)
			}
			for err == nil {
				_, err = resp.Body.Read(p)
			}
			_ = resp.Body.Close()
		}
	})
	b.Run("net/http", func(b *testing.B) {
		tr := &http.Transport{DisableCompression: true}
		defer tr.CloseIdleConnections()
		b.ReportAllocs()
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		p := make([]byte, 4096)
		body, _ := r.Body.Memory()
		for b.Loop() {
			req, _ := http.NewRequestWithContext(ctx, r.Method, "http://"+r.Host+r.Target, bytes.NewReader(body))
			for _, f := range r.Header {
				req.Header.Set(f.Name, f.Value)
			}
			resp, err := tr.RoundTrip(req)
			if err != nil {
				b.Fatal(err)
			}
			for err == nil {
				_, err = resp.Body.Read(p)
			}
			_ = resp.Body.Close()
		}
	})
}

// repeat is n connections that play the same script.
func repeat(s script, n int) []script {
	all := make([]script, n)
	for i := range all {
		all[i] = s
	}
	return all
}
