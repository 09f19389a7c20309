package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

// A refusal that comes while a large body is under way is delivered, whether the
// peer then closes, reads no further or reads on.
func TestEarlyAnswer(t *testing.T) {
	t.Parallel()
	const refusal = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\nno"
	scripts := map[string]script{
		"closes": func(_ testing.TB, c *peerConn) {
			_, _ = http.ReadRequest(c.r)
			c.write(refusal)
		},
		"reads no further": func(t testing.TB, c *peerConn) {
			_, _ = http.ReadRequest(c.r)
			c.write(refusal)
			<-t.Context().Done()
		},
		"reads on": func(_ testing.TB, c *peerConn) {
			_, _ = http.ReadRequest(c.r)
			c.write(refusal)
			c.untilGone()
		},
	}
	big := make([]byte, 16<<20)
	bodies := map[string]func() wire.Payload{
		"memory": func() wire.Payload { return wire.Bytes(big) },
		"stream": func() wire.Payload { return wire.Stream(bytes.NewReader(big), int64(len(big))) },
		"chunks": func() wire.Payload { return wire.Stream(bytes.NewReader(big), -1) },
	}
	for name, s := range scripts {
		for kind, body := range bodies {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				resp, text, err := call(newClient(t, transport.Options{}), post(newPeer(t, s), body()))
				if err != nil || resp.Status != 401 || text != "no" {
					t.Errorf("%q %v", text, err)
				}
			})
		}
	}
}

// Both directions at once: the peer answers each piece before it takes the next.
func TestFullDuplex(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		base, o := newServer(t, kind, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rc := http.NewResponseController(w)
			_ = rc.EnableFullDuplex()
			w.WriteHeader(200)
			_ = rc.Flush()
			p := make([]byte, 100)
			for {
				n, err := r.Body.Read(p)
				_, _ = w.Write(bytes.ToUpper(p[:n]))
				_ = rc.Flush()
				if err != nil {
					return
				}
			}
		}))
		pipeReader, out := io.Pipe()
		resp, err := newClient(t, o).Do(context.Background(), ptr(post(base, wire.Stream(pipeReader, -1))))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		p := make([]byte, 100)
		for i := range 5 {
			_, _ = fmt.Fprintf(out, "piece %d", i)
			n, err := resp.Body.Read(p)
			if string(p[:n]) != fmt.Sprintf("PIECE %d", i) || err != nil {
				t.Errorf("%q %v", p[:n], err)
			}
		}
		_ = out.Close()
		if rest, err := io.ReadAll(resp.Body); len(rest) != 0 || err != nil {
			t.Errorf("%q %v", rest, err)
		}
	})
}

// The answer to an upload that is stuck in its source does not wait for it.
func TestCloseDoesNotWaitForAStuckSource(t *testing.T) {
	t.Parallel()
	pipeReader, out := io.Pipe()
	r := newPeer(t, func(_ testing.TB, c *peerConn) {
		_, _ = http.ReadRequest(c.r)
		c.write("HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\nno")
		c.untilGone()
	})
	r.HeadTimeout, r.IdleTimeout = time.Hour, time.Hour // so that nothing else ends it
	resp, _, err := call(newClient(t, transport.Options{}), post(r, wire.Stream(pipeReader, -1)))
	if err != nil || resp.Status != 401 {
		t.Errorf("%d %v", resp.Status, err)
	}
	_ = out.Close()
}

// The same over HTTP/2, where the connection serves further calls meanwhile.
func TestAStuckSourceOverHTTP2(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 413} {
		base, o := newServer(t, "h2", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, r.RemoteAddr)
		}))
		c := newClient(t, o)
		pipeReader, out := io.Pipe()
		go func() { _, _ = out.Write([]byte("first")) }()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		resp, err := c.Do(ctx, ptr(post(base, wire.Stream(pipeReader, -1))))
		if err != nil {
			t.Fatal(err)
		}
		first, err := io.ReadAll(resp.Body)
		if err := errors.Join(err, resp.Body.Close(), ctx.Err()); err != nil || resp.Status != status {
			t.Errorf("%d: %v", resp.Status, err)
		}
		if _, second, err := call(c, base); err != nil || second != string(first) {
			t.Errorf("%d: the next call: from %s, not %s, %v", status, second, first, err)
		}
		_ = out.Close()
	}
}
