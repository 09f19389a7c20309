package transport_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/kernel/wire"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/transport"
)

// newClient makes a client that may call loopback addresses.
func newClient(t testing.TB, o transport.Options) *transport.Client {
	t.Helper()
	if o.Guard == nil {
		o.Guard = netguard.New([]string{"localhost", "127.0.0.1", "::1"})
	}
	c := transport.New(o)
	t.Cleanup(c.Close)
	return c
}

// newServer starts a real server: "http" speaks HTTP/1.1, "https" HTTP/1.1 over
// TLS, "h2" HTTP/2. The options trust its certificate.
func newServer(t testing.TB, kind string, h http.Handler) (base transport.Request, o transport.Options) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.EnableHTTP2 = kind == "h2"
	if kind == "http" {
		s.Start()
	} else {
		s.StartTLS()
		o.TLSConfig = s.Client().Transport.(*http.Transport).TLSClientConfig
		o.TLSConfig.ServerName = ""
	}
	t.Cleanup(s.Close)
	base = transport.Request{Method: "GET", Scheme: strings.Split(s.URL, "://")[0], Host: s.Listener.Addr().String(), Target: "/"}
	return base, o
}

// script is one connection of a scripted peer.
type script func(t testing.TB, c *peerConn)

// peerConn is the peer's side of a connection.
type peerConn struct {
	net.Conn
	r *bufio.Reader
}

// request reads one whole request, as a server would.
func (c *peerConn) request() (*http.Request, []byte, error) {
	req, err := http.ReadRequest(c.r)
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(req.Body)
	return req, body, err
}

// write writes bytes as they are.
func (c *peerConn) write(s string) { _, _ = io.WriteString(c, s) }

// untilGone waits until the other side has closed the connection.
func (c *peerConn) untilGone() { _, _ = io.Copy(io.Discard, c.r) }

// newPeer starts a listener that plays the scripts, one per connection in order;
// further connections are closed at once.
func newPeer(t testing.TB, scripts ...script) transport.Request {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended); _ = l.Close(); running.Wait() })
	running.Go(func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			switch {
			case err != nil:
				return
			case n >= len(scripts):
				_ = c.Close()
				continue
			}
			played := make(chan struct{})
			running.Go(func() { defer close(played); scripts[n](t, &peerConn{c, bufio.NewReader(c)}) })
			running.Go(func() {
				select {
				case <-played:
				case <-ended:
				}
				_ = c.Close()
			})
		}
	})
	return transport.Request{Method: "GET", Scheme: "http", Host: l.Addr().String(), Target: "/v1/models", HeadTimeout: 30 * time.Second, IdleTimeout: 30 * time.Second}
}

// answers is a script that answers each request with the same bytes.
func answers(response string) script {
	return func(_ testing.TB, c *peerConn) {
		for {
			if _, _, err := c.request(); err != nil {
				return
			}
			c.write(response)
		}
	}
}

// once answers one request and closes the connection.
func once(response string) script {
	return func(_ testing.TB, c *peerConn) {
		if _, _, err := c.request(); err == nil {
			c.write(response)
		}
	}
}

// call sends r and reads the whole answer.
func call(c *transport.Client, r transport.Request) (*transport.Response, string, error) {
	resp, err := c.Do(context.Background(), &r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

// post makes a request with a body.
func post(r transport.Request, body wire.Payload) transport.Request {
	r.Method, r.Target, r.Body = "POST", "/v1/chat/completions", body
	return r
}

// certificate makes a server's TLS settings and options that trust them.
func certificate(t testing.TB) (*tls.Config, transport.Options) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	t.Cleanup(s.Close)
	o := transport.Options{TLSConfig: s.Client().Transport.(*http.Transport).TLSClientConfig}
	return &tls.Config{Certificates: s.TLS.Certificates}, o
}
