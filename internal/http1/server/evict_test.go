package server_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"sluice/internal/http1/server"
	"sluice/internal/kernel/wire"
)

// silentClients are the ways not to send a complete request.
var silentClients = map[string]struct {
	tls   bool
	begin func(testing.TB, *running) *client
}{
	"nothing":             {false, func(t testing.TB, s *running) *client { return s.dial(t) }},
	"half a request line": {false, func(t testing.TB, s *running) *client { return s.dial(t).send("POST /v1/ch") }},
	"a head without its end": {false, func(t testing.TB, s *running) *client {
		return s.dial(t).send("POST /v1/x HTTP/1.1\r\nHost: gw\r\nX-A: b\r\n")
	}},
	"a handshake that never begins":   {true, func(t testing.TB, s *running) *client { return s.dial(t) }},
	"a handshake that never finishes": {true, func(t testing.TB, s *running) *client { return s.dial(t).send("\x16\x03\x01\x02\x00\x01") }},
	"half a request line under TLS": {true, func(t testing.TB, s *running) *client {
		return s.dialTLS(t, "http/1.1", "POST /v1/ch")
	}},
	"HTTP/2 without its preface": {true, func(t testing.TB, s *running) *client { return s.dialTLS(t, "h2", "") }},
	"HTTP/2 without a stream": {true, func(t testing.TB, s *running) *client {
		return s.dialTLS(t, "h2", http2.ClientPreface+"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
	}},
	"HTTP/2 with half a head": {true, func(t testing.TB, s *running) *client {
		return s.dialTLS(t, "h2", http2.ClientPreface+"\x00\x00\x00\x04\x00\x00\x00\x00\x00"+"\x00\x00\x01\x01\x00\x00\x00\x00\x01\x82")
	}},
}

// dialTLS opens a connection under TLS and sends something. The gateway may close it at any
// time.
func (r *running) dialTLS(t testing.TB, protocol, text string) *client {
	t.Helper()
	c := r.dial(t)
	secure := tls.Client(c.Conn, &tls.Config{RootCAs: authority().Pool(), ServerName: "127.0.0.1", NextProtos: []string{protocol}, MinVersion: tls.VersionTLS12})
	if secure.Handshake() == nil {
		_, _ = io.WriteString(secure, text) // fails when the connection was closed
	}
	return c
}

// ask makes one call on a connection of its own.
func (r *running) ask(t testing.TB, secure bool) {
	t.Helper()
	scheme, hc := "http://", &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	if secure {
		scheme, hc = "https://", secureClient(t, true)
		hc.Timeout = 20 * time.Second
	}
	resp, err := hc.Get(scheme + r.addr + "/v1/x")
	if err != nil {
		t.Fatalf("a valid call: %v", err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("a valid call: %d %v", resp.StatusCode, err)
	}
}

// awaitIdle waits until so many connections wait for their next request.
func (r *running) awaitIdle(t testing.TB, n int) {
	t.Helper()
	for late := time.Now().Add(20 * time.Second); r.Idle() != n; time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("%d connections are idle, want %d", r.Idle(), n)
		}
	}
}

// Connections that never send a complete request do not keep out those that do, neither by
// taking all slots nor from one address.
func TestEvict_SilentConnections(t *testing.T) {
	t.Parallel()
	for name, c := range silentClients {
		for reason, share := range map[string]int{server.EvictedShare: 4, server.EvictedSilent: 100} {
			t.Run(name+", "+reason, func(t *testing.T) {
				t.Parallel()
				change := []func(*server.Server){func(s *server.Server) { s.MaxConns, s.MaxSilentPerClient = 8, share }}
				if c.tls {
					change = append(change, withTLS)
				}
				s := start(t, echo, change...)
				for range 12 {
					c.begin(t, s)
				}
				s.ask(t, c.tls)
				share, silent := s.Evicted(server.EvictedShare), s.Evicted(server.EvictedSilent)
				if reason == server.EvictedShare && share+silent == 0 || reason == server.EvictedSilent && (share > 0 || silent == 0) { // bytes that wait to be read spare one from the share
					t.Errorf("%d and %d connections are evicted", share, silent)
				}
				if n := s.Evicted(server.EvictedIdle); n != 0 {
					t.Errorf("%d connections are evicted that were used", n)
				}
			})
		}
	}
}

// The oldest silent connection goes first; those that are idle stay while there is a silent
// one, and go when there is none, the one that is idle for longest first.
func TestEvict_Order(t *testing.T) {
	t.Parallel()
	s := start(t, echo, func(s *server.Server) { s.MaxConns = 4 })
	call := func(c *client) { c.send(get).readResponse("GET") }
	idleOld, idleNew := s.dial(t), s.dial(t)
	call(idleOld)
	s.awaitIdle(t, 1)
	call(idleNew)
	s.awaitIdle(t, 2)
	silentOld, silentNew := s.dial(t).send("GET "), s.dial(t)
	third := s.dial(t)
	call(third)
	silentOld.closed()
	fourth := s.dial(t)
	call(fourth)
	silentNew.closed()
	fifth := s.dial(t)
	call(fifth)
	idleOld.closed()
	for _, c := range []*client{idleNew, third, fourth, fifth} {
		call(c)
	}
	if silent, idle := s.Evicted(server.EvictedSilent), s.Evicted(server.EvictedIdle); silent != 2 || idle != 1 {
		t.Errorf("%d silent and %d idle ones are evicted", silent, idle)
	}
}

// A connection that has had an answer counts neither towards a share nor as silent, even in
// the middle of its next head; for want of a slot it is idle.
func TestEvict_SecondHeadIsIdle(t *testing.T) {
	t.Parallel()
	s := start(t, echo, func(s *server.Server) { s.MaxConns, s.MaxSilentPerClient = 3, 1 })
	var partial []*client
	for range 3 {
		c := s.dial(t).send(get)
		c.readResponse("GET")
		s.awaitIdle(t, 1)
		partial = append(partial, c.send(get[:20]))
		s.awaitIdle(t, 0)
	}
	s.ask(t, false)
	partial[0].closed()
	if got := partial[2].send(get[20:]).readResponse("GET"); got.StatusCode != http.StatusOK {
		t.Errorf("a head in two parts: %d", got.StatusCode)
	}
	if share, silent, idle := s.Evicted(server.EvictedShare), s.Evicted(server.EvictedSilent), s.Evicted(server.EvictedIdle); share != 0 || silent != 0 || idle != 1 {
		t.Errorf("%d, %d and %d are evicted", share, silent, idle)
	}
}

// Idle connections of HTTP/2 are evicted, too.
func TestEvict_IdleHTTP2(t *testing.T) {
	t.Parallel()
	s := start(t, echo, withTLS, func(s *server.Server) { s.MaxConns = 3 })
	for range 8 {
		s.ask(t, true) // by a client of its own, which leaves its connection open
	}
	if n := s.Evicted(server.EvictedIdle); n < 5 {
		t.Errorf("%d idle connections are evicted", n)
	}
}

// A connection on which a request is being served is never evicted, whichever protocol it
// has and however many silent ones come.
func TestEvict_NeverWhileServing(t *testing.T) {
	t.Parallel()
	for name, secure := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			finish := make(chan struct{})
			streams := stream(finish)
			s := start(t, func(ctx context.Context, req *wire.Request, out wire.Responder) error {
				return streams(ctx, req, out)
			}, func(s *server.Server) {
				s.MaxConns, s.MaxSilentPerClient = 3, 2
				s.Rest.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.WriteString(w, "first\n")
					_ = http.NewResponseController(w).Flush()
					<-finish
					_, _ = io.WriteString(w, "last\n")
				})
				if secure {
					withTLS(s)
				}
			})
			scheme, hc := "http://", &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			if secure {
				scheme, hc = "https://", secureClient(t, true)
			}
			resp, err := hc.Get(scheme + s.addr + "/v1/x")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if _, err := io.ReadFull(resp.Body, make([]byte, len("first\n"))); err != nil {
				t.Fatal(err)
			}
			var last *client
			for range 20 {
				last = s.dial(t)
			}
			for late := time.Now().Add(20 * time.Second); s.Evicted(server.EvictedShare) < 18; time.Sleep(time.Millisecond) {
				if time.Now().After(late) {
					t.Fatalf("%d are evicted", s.Evicted(server.EvictedShare))
				}
			}
			_ = last.Close()
			close(finish)
			if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "last\n" {
				t.Errorf("the stream ends with %q, %v", b, err)
			}
		})
	}
}

// Every slot is given back, however evicted connections end.
func TestEvict_SlotsComeBack(t *testing.T) {
	t.Parallel()
	s := start(t, echo, func(s *server.Server) { s.MaxConns, s.MaxSilentPerClient = 2, 1 })
	for i := range 50 {
		c := s.dial(t)
		if i%2 == 0 {
			c.send(strings.Repeat("A", i+1))
		}
		if i%3 == 0 {
			_ = c.Close()
		}
	}
	for range 4 {
		s.ask(t, false)
	}
}

// Clients of IPv6 share by network, those of IPv4 by address.
func TestClientOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"192.0.2.7:80": "192.0.2.7", "[::ffff:192.0.2.7]:80": "192.0.2.7", "[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::", "[fe80::1%lo]:80": "fe80::",
	} {
		addr, err := net.ResolveTCPAddr("tcp", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := server.ClientOf(addr); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A client that has its answer and holds back the rest of its body is idle: it does not
// take a slot from others, whichever server answered.
func TestEvict_BodyHeldBack(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v1/x", "/admin"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s := start(t, func(_ context.Context, _ *wire.Request, out wire.Responder) error {
				return writeResponse(out, []byte("no\n"))
			}, func(s *server.Server) {
				s.MaxConns = 3
				s.Rest.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "no\n") })
			})
			for range 8 {
				c := s.dial(t).send("POST " + path + " HTTP/1.1\r\nHost: gw\r\nContent-Length: 1000\r\n\r\n{")
				if got := c.readResponse("POST"); got.text != "no\n" || got.err != nil {
					t.Fatalf("%q %v", got.text, got.err)
				}
			}
			s.ask(t, false)
			if s.Evicted(server.EvictedIdle) < 5 {
				t.Errorf("%d are evicted", s.Evicted(server.EvictedIdle))
			}
		})
	}
}
