package transport_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

const hello = okHead + "content-length: 5\r\n\r\nhello"

// counting plays s and counts its connections.
func counting(n *atomic.Int32, s script) script {
	return func(t testing.TB, c *peerConn) { n.Add(1); s(t, c) }
}

// Which answers leave the connection fit for the next call, and which do not.
func TestReuse(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, response string
		conns          int32 // used by two calls
	}{
		{"sized", hello, 1},
		{"empty", okHead + "content-length: 0\r\n\r\n", 1},
		{"chunks", okHead + "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 1},
		{"no content", "HTTP/1.1 204 No Content\r\n\r\n", 1},
		{"peer closes", okHead + "connection: keep-alive, Close\r\ncontent-length: 5\r\n\r\nhello", 2},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello", 2},
		{"bytes behind a sized body", hello + "HTTP/1.1 200 OK\r\n", 2},
		{"bytes behind chunks", okHead + "transfer-encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n", 2},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int32
			s := counting(&n, answers(tc.response))
			r := newPeer(t, s, s)
			c := newClient(t, transport.Options{})
			opened := int32(0)
			for range 2 {
				resp, _, err := call(c, r)
				if err != nil {
					t.Fatal(err)
				}
				if resp.Connect > 0 {
					opened++
				}
				if resp.Queue != 0 {
					t.Errorf("waited %v for a connection of somebody else", resp.Queue)
				}
			}
			if n.Load() != tc.conns || opened != tc.conns {
				t.Errorf("%d connections, %d calls that opened one, want %d", n.Load(), opened, tc.conns)
			}
		})
	}
}

// An answer sent while the connection was unused must not reach the next caller.
func TestUnaskedAnswerIsNotGivenToTheNextCaller(t *testing.T) {
	t.Parallel()
	poisoned := make(chan struct{})
	r := newPeer(t, func(_ testing.TB, c *peerConn) {
		_, _, _ = c.request()
		c.write(hello)
		time.Sleep(20 * time.Millisecond) // a second answer that comes on its own
		c.write(okHead + "content-length: 6\r\n\r\npoison")
		close(poisoned)
		c.untilGone()
	}, answers(hello))
	c := newClient(t, transport.Options{})
	if _, body, err := call(c, r); err != nil || body != "hello" {
		t.Fatal(body, err)
	}
	<-poisoned
	if _, body, err := call(c, r); err != nil || body != "hello" {
		t.Errorf("%q %v", body, err)
	}
}

// The same when it is sent right behind the first one, before the next call begins.
func TestUnaskedAnswerRightBehindTheFirst(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "POST"} {
		read, responded := make(chan struct{}), make(chan struct{})
		r := newPeer(t, func(_ testing.TB, c *peerConn) {
			_, _, _ = c.request()
			c.write(hello)
			<-read
			c.write(okHead + "content-length: 6\r\n\r\npoison")
			close(responded)
			c.untilGone()
		}, answers(hello))
		r.Method = method
		c := newClient(t, transport.Options{})
		if _, body, err := call(c, r); err != nil || body != "hello" {
			t.Fatal(body, err)
		}
		close(read)
		<-responded
		if _, body, err := call(c, r); err != nil || body != "hello" {
			t.Errorf("%s: %q %v", method, body, err)
		}
	}
}

// A connection that ends right behind an answer costs a replayable call nothing but
// another connection, and the peer sees it once.
func TestEndRightBehindTheAnswer(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	once := func(_ testing.TB, c *peerConn) {
		if _, _, err := c.request(); err == nil {
			requests.Add(1)
			c.write(hello)
		}
	}
	r := post(newPeer(t, once, once, once, once), wire.Bytes([]byte("{}")))
	r.Method = "PUT" // a slow machine may take longer than a POST is sent again
	c := newClient(t, transport.Options{})
	for range 4 {
		if _, body, err := call(c, r); err != nil || body != "hello" {
			t.Errorf("%q %v", body, err)
		}
	}
	if n := requests.Load(); n != 4 {
		t.Errorf("four calls were seen %d times", n)
	}
}

// What was made in a room is as good as new, call after call, and gone when it is cleared.
func TestRoom(t *testing.T) {
	t.Parallel()
	long := okHead + strings.Repeat("x-line: 1\r\n", 40) + "content-length: 4\r\n\r\nlong"
	r := newPeer(t, func(_ testing.TB, c *peerConn) {
		for _, response := range []string{hello, long, hello} {
			_, _, _ = c.request()
			c.write(response)
		}
	})
	r.ResponseBuffer = new(transport.ResponseBuffer)
	c := newClient(t, transport.Options{})
	for i, want := range []struct {
		body  string
		lines int
	}{{"hello", 1}, {"long", 41}, {"hello", 1}} {
		resp, err := c.Do(t.Context(), &r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || string(body) != want.body || len(resp.Header) != want.lines || resp.Length != int64(len(want.body)) {
			t.Errorf("%d: %q %v %v", i, body, resp.Header, err)
		}
		_ = resp.Body.Close()
		r.ResponseBuffer.Clear()
		if resp.Status != 0 || resp.Body != nil || resp.Header != nil {
			t.Errorf("%d: %+v is left", i, resp)
		}
	}
}

// corked is a connection whose writes go out together.
type corked struct {
	net.Conn
	held    []byte
	enabled bool
}

func (c *corked) Write(p []byte) (int, error) {
	if c.enabled {
		c.held = append(c.held, p...)
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// The same when TLS has read the second answer ahead together with the first.
func TestUnaskedAnswerInsideTLS(t *testing.T) {
	t.Parallel()
	cfg, o := certificate(t)
	secure := func(s func(*corked, *peerConn)) script {
		return func(_ testing.TB, c *peerConn) {
			cork := &corked{Conn: c.Conn}
			tc := tls.Server(cork, cfg)
			s(cork, &peerConn{tc, bufio.NewReader(tc)})
		}
	}
	r := newPeer(t, secure(func(cork *corked, c *peerConn) {
		_, _, _ = c.request()
		cork.enabled = true
		c.write(hello)
		c.write(okHead + "content-length: 6\r\n\r\npoison")
		_, _ = cork.Conn.Write(cork.held)
		c.untilGone()
	}), secure(func(_ *corked, c *peerConn) { answers(hello)(t, c) }))
	r.Scheme = "https"
	c := newClient(t, o)
	for range 2 {
		if _, body, err := call(c, r); err != nil || body != "hello" {
			t.Errorf("%q %v", body, err)
		}
	}
}

// A pooled connection that dies under a request is replaced once; a body that
// cannot be sent again is not.
func TestRetryOnStaleConnection(t *testing.T) {
	t.Parallel()
	dies := func(_ testing.TB, c *peerConn) {
		_, _, _ = c.request()
		c.write(hello)
		_, _, _ = c.request() // and no answer
	}
	t.Run("replayable", func(t *testing.T) {
		t.Parallel()
		r := post(newPeer(t, dies, answers(hello)), wire.Bytes([]byte("{}")))
		r.Method = "PUT"
		c := newClient(t, transport.Options{})
		for range 2 {
			if _, body, err := call(c, r); err != nil || body != "hello" {
				t.Errorf("%q %v", body, err)
			}
		}
	})
	t.Run("replayable but not idempotent", func(t *testing.T) {
		t.Parallel()
		var err error
		for range 5 { // a slow machine may take longer than it is sent again
			r := post(newPeer(t, dies, answers(hello)), wire.Bytes([]byte("{}")))
			c := newClient(t, transport.Options{})
			_, _, _ = call(c, r)
			if _, _, err = call(c, r); err == nil {
				return
			}
		}
		t.Error(err)
	})
	t.Run("stream", func(t *testing.T) {
		t.Parallel()
		r := newPeer(t, dies, answers(hello))
		c := newClient(t, transport.Options{})
		for _, want := range []fault.Code{"", fault.UpstreamFailed} {
			_, _, err := call(c, post(r, wire.Stream(strings.NewReader("{}"), 2)))
			if (want == "") != (err == nil) || want != "" && !fault.Has(err, want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	})
	t.Run("new connection", func(t *testing.T) {
		t.Parallel()
		var n atomic.Int32
		s := counting(&n, func(_ testing.TB, c *peerConn) { _, _, _ = c.request() })
		_, _, err := call(newClient(t, transport.Options{}), post(newPeer(t, s, s), wire.Bytes([]byte("{}"))))
		if !fault.Has(err, fault.UpstreamFailed) || n.Load() != 1 {
			t.Errorf("%v on %d connections", err, n.Load())
		}
	})
	t.Run("after a byte of the answer", func(t *testing.T) {
		t.Parallel()
		r := newPeer(t, func(_ testing.TB, c *peerConn) {
			_, _, _ = c.request()
			c.write(hello)
			_, _, _ = c.request()
			c.write("H")
		}, answers(hello))
		c := newClient(t, transport.Options{})
		_, _, _ = call(c, r)
		if _, _, err := call(c, r); !fault.Has(err, fault.UpstreamFailed) {
			t.Error(err)
		}
	})
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	r := newPeer(t, func(t testing.TB, c *peerConn) { answers(hello)(t, c); close(gone) })
	c := newClient(t, transport.Options{IdleConnTimeout: 20 * time.Millisecond})
	if _, _, err := call(c, r); err != nil {
		t.Fatal(err)
	}
	<-gone
}

func TestIdleConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	const calls, idle = 4, 2
	left := make(chan struct{}, calls)
	came, hold := make(chan struct{}, calls), make(chan struct{})
	s := func(_ testing.TB, c *peerConn) {
		_, _, _ = c.request()
		came <- struct{}{}
		<-hold
		c.write(hello)
		c.untilGone()
		left <- struct{}{}
	}
	r := newPeer(t, s, s, s, s)
	c := newClient(t, transport.Options{MaxIdlePerHost: idle})
	errs := make(chan error)
	for range calls {
		go func() { _, _, err := call(c, r); errs <- err }()
	}
	for range calls {
		<-came
	}
	close(hold)
	for range calls {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	for range calls - idle {
		<-left
	}
	select {
	case <-left:
		t.Error("a connection that could be kept was closed")
	default:
	}
}

func TestClosedClientKeepsNothing(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		base, o := newServer(t, kind, http.HandlerFunc(echo))
		c := newClient(t, o)
		if _, _, err := call(c, base); err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(context.Background(), &base)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		if _, err := io.ReadAll(resp.Body); err != nil {
			t.Errorf("call under way: %v", err)
		}
		_ = resp.Body.Close()
		if _, _, err := call(c, base); err != nil {
			t.Errorf("later call: %v", err)
		}
	})
}

// Connections made with one identity are not used for another.
func TestIdentitiesDoNotShareConnections(t *testing.T) {
	t.Parallel()
	var saw atomic.Value
	base, o := newServer(t, "https", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { saw.Store(r.RemoteAddr) }))
	c := newClient(t, o)
	seen := map[any]bool{}
	for _, identity := range []*tls.Config{nil, o.TLSConfig.Clone(), o.TLSConfig.Clone()} {
		base.TLS = identity
		for range 2 {
			if _, _, err := call(c, base); err != nil {
				t.Fatal(err)
			}
			seen[saw.Load()] = true
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d connections for 3 identities", len(seen))
	}
}

func TestBodyAfterItsEnd(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		base, o := newServer(t, kind, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
		c := newClient(t, o)
		for _, read := range []bool{true, false} {
			resp, err := c.Do(context.Background(), &base)
			if err != nil {
				t.Fatal(err)
			}
			if read {
				_, _ = io.ReadAll(resp.Body)
				if n, err := resp.Body.Read(make([]byte, 9)); n != 0 || err != io.EOF {
					t.Errorf("behind the end: %d %v", n, err)
				}
			}
			for range 2 {
				if err := resp.Body.Close(); err != nil {
					t.Error(err)
				}
			}
			if n, err := resp.Body.Read(make([]byte, 9)); n != 0 || err == nil || !read && err == io.EOF {
				t.Errorf("after Close: %d %v", n, err)
			}
		}
	})
}
