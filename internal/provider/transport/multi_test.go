package transport_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

// What fails over HTTP/2 has the codes that it has over HTTP/1.1.
func TestFaultsOverHTTP2(t *testing.T) {
	t.Parallel()
	hello := func(w http.ResponseWriter) {
		_, _ = io.WriteString(w, "hello")
		w.(http.Flusher).Flush()
	}
	base, o := newServer(t, "h2", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/silent":
			<-r.Context().Done()
		case "/stall":
			hello(w)
			<-r.Context().Done()
		case "/reset":
			panic(http.ErrAbortHandler)
		case "/reset-later":
			hello(w)
			panic(http.ErrAbortHandler)
		case "/short":
			w.Header().Set("Content-Length", "10")
			hello(w)
		}
	}))
	base.HeadTimeout, base.IdleTimeout = 30*time.Second, 30*time.Second
	c := newClient(t, o)
	const short = 500 * time.Millisecond // for the part that does come, too
	cases := []struct {
		target, body string
		change       func(r *transport.Request)
		want         fault.Code
		stalled      bool
	}{
		{"/silent", "", func(r *transport.Request) { r.HeadTimeout = short }, fault.UpstreamTimeout, false},
		{"/stall", "hello", func(r *transport.Request) { r.IdleTimeout = short }, fault.UpstreamTimeout, true},
		{"/reset", "", func(*transport.Request) {}, fault.UpstreamFailed, false},
		{"/reset-later", "hello", func(*transport.Request) {}, fault.UpstreamFailed, false},
		{"/short", "hello", func(*transport.Request) {}, fault.UpstreamFailed, false},
	}
	for _, tc := range cases {
		t.Run(tc.target, func(t *testing.T) {
			t.Parallel()
			r := base
			r.Target = tc.target
			tc.change(&r)
			_, body, err := call(c, r)
			if body != tc.body || !fault.Has(err, tc.want) || errors.Is(err, transport.ErrStalled) != tc.stalled {
				t.Errorf("%q %v", body, err)
			}
		})
	}
}

// An answer that has no body has none whatever its Content-Length says, and leaves the
// connection fit for the next call.
func TestAnswersWithoutABody(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		base, o := newServer(t, kind, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Conn", r.RemoteAddr)
			w.Header().Set("Content-Length", "5")
			switch r.URL.Path {
			case "/304":
				w.WriteHeader(304)
			case "/204":
				w.Header().Del("Content-Length")
				w.WriteHeader(204)
			}
		}))
		c := newClient(t, o)
		conns := map[string]bool{}
		for _, tc := range []struct {
			method, target string
			status         int
			body           wire.Payload
		}{
			{"HEAD", "/", 200, wire.Payload{}},
			{"GET", "/304", 304, wire.Payload{}},
			{"POST", "/304", 304, wire.Bytes([]byte("{}"))},
			{"GET", "/204", 204, wire.Payload{}},
		} {
			r := base
			r.Method, r.Target, r.Body = tc.method, tc.target, tc.body
			resp, body, err := call(c, r)
			if err != nil || resp.Status != tc.status || resp.Length != 0 || body != "" {
				t.Errorf("%s %s: %+v %q %v", tc.method, tc.target, resp, body, err)
				continue
			}
			conns[resp.Header.Get("x-conn")] = true
		}
		if len(conns) != 1 {
			t.Errorf("%d connections", len(conns))
		}
	})
}

func TestCancelOverHTTP2(t *testing.T) {
	t.Parallel()
	began, gone := make(chan struct{}, 1), make(chan struct{}, 1)
	base, o := newServer(t, "h2", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			_, _ = io.WriteString(w, "hello")
			w.(http.Flusher).Flush()
		}
		began <- struct{}{}
		<-r.Context().Done()
		gone <- struct{}{}
	}))
	c := newClient(t, o)
	for _, target := range []string{"/head", "/body"} {
		r := base
		r.Target, r.HeadTimeout, r.IdleTimeout = target, time.Hour, time.Hour // so that nothing else ends it
		ctx, cancel := context.WithCancel(context.Background())
		go func() { <-began; cancel() }()
		resp, err := c.Do(ctx, &r)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", target, err)
		}
		<-gone
	}
}

// closable counts a server's connections and can cut them.
type closable struct {
	net.Listener
	conns chan net.Conn
}

func (l closable) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.conns <- c
	}
	return c, err
}

// A shared connection that breaks is replaced, and the call that met it is sent
// once more.
func TestBrokenHTTP2ConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	cfg, o := certificate(t)
	cfg.NextProtos = []string{"h2"}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := closable{tcp, make(chan net.Conn, 8)}
	var calls atomic.Int32
	var first net.Conn
	s := &http.Server{TLSConfig: cfg, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 2 { // the second call finds its connection dying
			_ = first.Close()
			<-r.Context().Done()
			return
		}
		_, _ = io.Copy(w, r.Body)
	})}
	go func() { _ = s.ServeTLS(l, "", "") }()
	t.Cleanup(func() { _ = s.Close() })
	c := newClient(t, o)
	r := post(transport.Request{Scheme: "https", Host: tcp.Addr().String()}, wire.Bytes([]byte("hi")))
	r.Method = "PUT" // a slow machine may take longer than a POST is sent again
	for i := range 3 {
		if _, body, err := call(c, r); err != nil || body != "hi" {
			t.Errorf("call %d: %q %v", i, body, err)
		}
		if i == 0 {
			first = <-l.conns
		}
	}
	if n := calls.Load(); n != 4 || len(l.conns) != 1 {
		t.Errorf("%d calls on %d further connections", n, len(l.conns))
	}
}

// A server that says it goes away is left after the call under way.
func TestGoingAway(t *testing.T) {
	t.Parallel()
	conns := map[string]bool{}
	base, o := newServer(t, "h2", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // over HTTP/2 the server sends GOAWAY
		_, _ = io.WriteString(w, r.RemoteAddr)
	}))
	c := newClient(t, o)
	for n := 0; n < 1000 && len(conns) < 2; n++ { // a call may overtake the server's word
		_, body, err := call(c, base)
		if err != nil {
			t.Error(err)
		}
		conns[body] = true
	}
	if len(conns) < 2 {
		t.Error("all calls on the connection that goes away")
	}
}

// All who wait for the first connection to a host get its failure, once.
func TestFailureOfTheFirstConnectionIsShared(t *testing.T) {
	t.Parallel()
	const callers = 20
	var n atomic.Int32
	hold := make(chan struct{})
	s := counting(&n, func(_ testing.TB, c *peerConn) { <-hold; c.write("no TLS here\r\n") })
	r := newPeer(t, repeat(s, callers)...)
	r.Scheme = "https"
	c := newClient(t, transport.Options{})
	errs := make(chan error, callers)
	for range callers {
		go func() { _, _, err := call(c, r); errs <- err }()
	}
	impatient := r
	impatient.HeadTimeout = 30 * time.Millisecond
	if _, _, err := call(c, impatient); !fault.Has(err, fault.UpstreamTimeout) {
		t.Errorf("who cannot wait: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	if _, err := c.Do(ctx, &r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("whose context ends: %v", err)
	}
	close(hold)
	for range callers {
		if err := <-errs; !fault.Has(err, fault.UpstreamUnreachable) {
			t.Error(err)
		}
	}
	if n.Load() > callers/2 {
		t.Errorf("%d connections for %d callers", n.Load(), callers)
	}
}
