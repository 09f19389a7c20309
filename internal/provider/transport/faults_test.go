package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/transport"
	"sluice/internal/test/upstream"
)

const okHead = "HTTP/1.1 200 OK\r\n"

// Each way in which a peer can fail before its head is complete has one code.
func TestFaultsBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("a: b\r\n", 257)
	cases := []struct {
		name     string
		response string
		want     fault.Code
	}{
		{"nothing", "", fault.UpstreamFailed},
		{"cut in the status", "HTTP/1.1 2", fault.UpstreamFailed},
		{"cut in the head", okHead + "content-length: 5\r\n", fault.UpstreamFailed},
		{"cut after an interim answer", "HTTP/1.1 100 Continue\r\n\r\n", fault.UpstreamFailed},
		{"another protocol", "SSH-2.0-OpenSSH_9.2\r\n", fault.UpstreamInvalid},
		{"another protocol, one byte", "\x15", fault.UpstreamInvalid},
		{"version", "HTTP/1.2 200 OK\r\n\r\n", fault.UpstreamInvalid},
		{"HTTP/2", "HTTP/2 200 OK\r\n\r\n", fault.UpstreamInvalid},
		{"status of letters", "HTTP/1.1 2x0 OK\r\n\r\n", fault.UpstreamInvalid},
		{"status of two digits", "HTTP/1.1 20 OK\r\n\r\n", fault.UpstreamInvalid},
		{"status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", fault.UpstreamInvalid},
		{"status below 100", "HTTP/1.1 099 No\r\n\r\n", fault.UpstreamInvalid},
		{"no status", "HTTP/1.1\r\n\r\n", fault.UpstreamInvalid},
		{"bare line feeds", "HTTP/1.1 200 OK\ncontent-length: 0\n\n", fault.UpstreamInvalid},
		{"one bare line feed", okHead + "a: b\nc: d\r\n\r\n", fault.UpstreamInvalid},
		{"bare carriage return", okHead + "a: b\rc: d\r\n\r\n", fault.UpstreamInvalid},
		{"folded line", okHead + "a: b\r\n c\r\n\r\n", fault.UpstreamInvalid},
		{"blank before the colon", okHead + "content-length : 0\r\n\r\n", fault.UpstreamInvalid},
		{"no colon", okHead + "content-length\r\n\r\n", fault.UpstreamInvalid},
		{"no name", okHead + ": 0\r\n\r\n", fault.UpstreamInvalid},
		{"control byte", okHead + "a: b\x00\r\n\r\n", fault.UpstreamInvalid},
		{"too many lines", okHead + lines + "\r\n", fault.UpstreamInvalid},
		{"too large", okHead + "a: " + strings.Repeat("b", 70<<10) + "\r\n\r\n", fault.UpstreamInvalid},
		{"too large, without end", okHead + "a: " + strings.Repeat("b", 70<<10), fault.UpstreamInvalid},
		{"two lengths", okHead + "content-length: 5\r\ncontent-length: 5\r\n\r\nhello", fault.UpstreamInvalid},
		{"list of lengths", okHead + "content-length: 5, 5\r\n\r\nhello", fault.UpstreamInvalid},
		{"signed length", okHead + "content-length: +5\r\n\r\nhello", fault.UpstreamInvalid},
		{"negative length", okHead + "content-length: -5\r\n\r\nhello", fault.UpstreamInvalid},
		{"empty length", okHead + "content-length:\r\n\r\nhello", fault.UpstreamInvalid},
		{"endless length", okHead + "content-length: 99999999999999999999\r\n\r\n", fault.UpstreamInvalid},
		{"length and chunks", okHead + "content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", fault.UpstreamInvalid},
		{"chunks twice", okHead + "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", fault.UpstreamInvalid},
		{"other coding", okHead + "transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n", fault.UpstreamInvalid},
		{"chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", fault.UpstreamInvalid},
		{"unasked switch", "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n", fault.UpstreamInvalid},
		{"interim answers without end", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 9), fault.UpstreamInvalid},
	}
	c := newClient(t, transport.Options{})
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := call(c, post(newPeer(t, once(tc.response)), wire.Bytes([]byte("{}"))))
			if !fault.Has(err, tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// What is delivered before a fault in the body is not lost, and the fault says
// which one it is.
func TestFaultsInTheBody(t *testing.T) {
	t.Parallel()
	const inChunks = okHead + "transfer-encoding: chunked\r\n\r\n"
	cases := []struct {
		name, response, body string
		want                 fault.Code
		cut                  bool // io.ErrUnexpectedEOF
	}{
		{"sized body cut", okHead + "content-length: 10\r\n\r\nhello", "hello", fault.UpstreamFailed, true},
		{"sized body cut at once", okHead + "content-length: 10\r\n\r\n", "", fault.UpstreamFailed, true},
		{"chunk cut", inChunks + "a\r\nhello", "hello", fault.UpstreamFailed, true},
		{"cut between chunks", inChunks + "5\r\nhello\r\n", "hello", fault.UpstreamFailed, true},
		{"cut in the last chunk", inChunks + "5\r\nhello\r\n0\r\n", "hello", fault.UpstreamFailed, true},
		{"size of letters", inChunks + "5\r\nhello\r\nxyz\r\n", "hello", fault.UpstreamInvalid, false},
		{"no size", inChunks + "\r\nhello\r\n", "", fault.UpstreamInvalid, false},
		{"huge size", inChunks + "1000000000000000\r\nhello", "", fault.UpstreamInvalid, false},
		{"chunk longer than said", inChunks + "5\r\nhello!\r\n0\r\n\r\n", "hello", fault.UpstreamInvalid, false},
		{"bare line feed after a size", inChunks + "5\nhello\r\n0\r\n\r\n", "", fault.UpstreamInvalid, false},
		{"bare carriage return after a size", inChunks + "5\r\rhello\r\n0\r\n\r\n", "", fault.UpstreamInvalid, false},
		{"control byte in an extension", inChunks + "5;\x01\r\nhello\r\n0\r\n\r\n", "", fault.UpstreamInvalid, false},
		{"extension without end", inChunks + "5;" + strings.Repeat("x", 5000) + "\r\n", "", fault.UpstreamInvalid, false},
		{"more framing than data", inChunks + strings.Repeat("1;"+strings.Repeat("x", 3000)+"\r\nh\r\n", 8), "hhhhh", fault.UpstreamInvalid, false},
		{"malformed trailer", inChunks + "5\r\nhello\r\n0\r\nno colon\r\n\r\n", "hello", fault.UpstreamInvalid, false},
		{"trailers without end", inChunks + "0\r\n" + strings.Repeat("a: b\r\n", 4000), "", fault.UpstreamInvalid, false},
	}
	c := newClient(t, transport.Options{})
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, body, err := call(c, newPeer(t, once(tc.response)))
			if body != tc.body || !fault.Has(err, tc.want) || errors.Is(err, io.ErrUnexpectedEOF) != tc.cut || errors.Is(err, transport.ErrStalled) {
				t.Errorf("%q, %v", body, err)
			}
		})
	}
}

func TestGoodAnswers(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, method, response string
		status                 int
		length                 int64
		body                   string
		untilClose             bool
	}{
		{"sized", "GET", okHead + "content-length: 5\r\n\r\nhello", 200, 5, "hello", false},
		{"empty", "GET", okHead + "content-length: 0\r\n\r\n", 200, 0, "", false},
		{"no reason", "GET", "HTTP/1.1 200\r\ncontent-length: 1\r\n\r\nx", 200, 1, "x", false},
		{"empty reason", "GET", "HTTP/1.1 200 \r\ncontent-length: 1\r\n\r\nx", 200, 1, "x", false},
		{"odd status", "GET", "HTTP/1.1 799 Odd\r\ncontent-length: 0\r\n\r\n", 799, 0, "", false},
		{"chunks", "GET", okHead + "Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n00006;a=b\r\n world\r\n0  \r\nx-t: 1\r\n\r\n", 200, -1, "hello world", false},
		{"until close", "GET", okHead + "\r\nhello", 200, -1, "hello", true},
		{"HTTP/1.0", "GET", "HTTP/1.0 200 OK\r\n\r\nhello", 200, -1, "hello", true},
		{"HEAD", "HEAD", okHead + "content-length: 5\r\n\r\n", 200, 0, "", false},
		{"no content", "GET", "HTTP/1.1 204 No Content\r\n\r\n", 204, 0, "", false},
		{"not modified", "GET", "HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n", 304, 0, "", false},
		{"after interim answers", "GET", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + okHead + "content-length: 1\r\n\r\nx", 200, 1, "x", false},
		{"large head", "GET", okHead + "a: " + strings.Repeat("b", 60<<10) + "\r\ncontent-length: 1\r\n\r\nx", 200, 1, "x", false},
	}
	c := newClient(t, transport.Options{})
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newPeer(t, once(tc.response))
			r.Method = tc.method
			resp, body, err := call(c, r)
			if err != nil {
				t.Fatal(err)
			}
			if resp.Status != tc.status || resp.Length != tc.length || body != tc.body || resp.UntilClose != tc.untilClose {
				t.Errorf("%d length %d %q until close %v", resp.Status, resp.Length, body, resp.UntilClose)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	refused, _ := url.Parse(upstream.Refused(t))
	plain := newPeer(t, func(_ testing.TB, c *peerConn) { c.write("HTTP/1.1 400 Bad Request\r\n\r\n") })
	secure, _ := newServer(t, "https", nil)
	c := newClient(t, transport.Options{Guard: netguard.New([]string{"127.0.0.1", "nowhere.example"}).WithResolver(noNames{})})
	cases := map[string]transport.Request{
		"refused":         {Method: "GET", Scheme: "http", Host: refused.Host, Target: "/"},
		"no such name":    {Method: "GET", Scheme: "https", Host: "nowhere.example", Target: "/"},
		"not TLS":         {Method: "GET", Scheme: "https", Host: plain.Host, Target: "/"},
		"bad certificate": {Method: "GET", Scheme: "https", Host: secure.Host, Target: "/"},
	}
	for name, r := range cases {
		if _, _, err := call(c, r); !fault.Has(err, fault.UpstreamUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// breaking is a resolver that panics.
type breaking struct{}

func (breaking) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) { panic("broken") }

// TestPanicWhileConnecting reaches every call that waits, in its own goroutine, where it can
// be recovered from, and leaves nobody waiting.
func TestPanicWhileConnecting(t *testing.T) {
	t.Parallel()
	c := newClient(t, transport.Options{Guard: netguard.New(nil).WithResolver(breaking{})})
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, "while connecting: broken") {
					t.Errorf("recovered %s", p)
				}
			}()
			_, _, err := call(c, transport.Request{Method: "GET", Scheme: "https", Host: "somewhere.example", Target: "/"})
			t.Errorf("an answer of nobody: %v", err)
		})
	}
	calls.Wait()
}

// silent answers the TCP handshake and nothing else.
func silent(_ testing.TB, c *peerConn) { c.untilGone() }

func TestTimeouts(t *testing.T) {
	t.Parallel()
	const short = 60 * time.Millisecond
	t.Run("no head", func(t *testing.T) {
		t.Parallel()
		r := newPeer(t, silent)
		r.HeadTimeout = short
		start := time.Now()
		_, _, err := call(newClient(t, transport.Options{}), r)
		if took := time.Since(start); !fault.Has(err, fault.UpstreamTimeout) || errors.Is(err, transport.ErrStalled) || took < short {
			t.Errorf("%v after %v", err, took)
		}
	})
	t.Run("no head, before the context is looked after", func(t *testing.T) {
		t.Parallel()
		r := newPeer(t, silent)
		r.HeadTimeout = 5 * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := newClient(t, transport.Options{}).Do(ctx, &r)
		if !fault.Has(err, fault.UpstreamTimeout) || ctx.Err() != nil {
			t.Errorf("%v, the context: %v", err, ctx.Err())
		}
	})
	t.Run("half a head", func(t *testing.T) {
		t.Parallel()
		r := newPeer(t, func(_ testing.TB, c *peerConn) { c.write("HTTP/1.1 20"); c.untilGone() })
		r.HeadTimeout = short
		if _, _, err := call(newClient(t, transport.Options{}), r); !fault.Has(err, fault.UpstreamTimeout) {
			t.Error(err)
		}
	})
	t.Run("no TLS handshake before the head is due", func(t *testing.T) {
		t.Parallel()
		r := newPeer(t, silent)
		r.Scheme, r.HeadTimeout = "https", short
		if _, _, err := call(newClient(t, transport.Options{}), r); !fault.Has(err, fault.UpstreamTimeout) {
			t.Error(err)
		}
	})
	t.Run("no TLS handshake in time", func(t *testing.T) {
		t.Parallel()
		r := newPeer(t, silent)
		r.Scheme = "https"
		if _, _, err := call(newClient(t, transport.Options{ConnectTimeout: short}), r); !fault.Has(err, fault.UpstreamUnreachable) {
			t.Error(err)
		}
	})
	t.Run("stalled body", func(t *testing.T) {
		t.Parallel()
		r := newPeer(t, func(_ testing.TB, c *peerConn) { c.write(okHead + "content-length: 9\r\n\r\nhello"); c.untilGone() })
		r.IdleTimeout = short
		_, body, err := call(newClient(t, transport.Options{}), r)
		if body != "hello" || !errors.Is(err, transport.ErrStalled) || !fault.Has(err, fault.UpstreamTimeout) {
			t.Errorf("%q %v", body, err)
		}
	})
	t.Run("upload nobody takes", func(t *testing.T) {
		t.Parallel()
		r := post(newPeer(t, func(t testing.TB, _ *peerConn) { <-t.Context().Done() }), wire.Bytes(make([]byte, 32<<20)))
		r.HeadTimeout = short
		if _, _, err := call(newClient(t, transport.Options{}), r); !fault.Has(err, fault.UpstreamTimeout) {
			t.Error(err)
		}
	})
}

func TestCancelCutsAtOnce(t *testing.T) {
	t.Parallel()
	requested, gone := make(chan struct{}, 1), make(chan struct{}, 1)
	watch := func(c *peerConn) { requested <- struct{}{}; c.untilGone(); gone <- struct{}{} }
	cases := map[string]script{
		"before the head": func(_ testing.TB, c *peerConn) { _, _, _ = c.request(); watch(c) },
		"in the body": func(_ testing.TB, c *peerConn) {
			_, _, _ = c.request()
			c.write(okHead + "content-length: 9\r\n\r\nhello")
			watch(c)
		},
	}
	for name, s := range cases {
		r := newPeer(t, s)
		r.HeadTimeout, r.IdleTimeout = time.Hour, time.Hour // so that nothing else ends it
		ctx, cancel := context.WithCancel(context.Background())
		go func() { <-requested; cancel() }()
		resp, err := newClient(t, transport.Options{}).Do(ctx, &r)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		<-gone
	}
	r := newPeer(t, silent)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := newClient(t, transport.Options{}).Do(ctx, &r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("deadline of the caller: %v", err)
	}
	if _, err := newClient(t, transport.Options{}).Do(ctx, &r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended before the call: %v", err)
	}
}
