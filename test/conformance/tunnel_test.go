package conformance

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// tunnel is a proxy that takes calls for any host to one address, whatever their
// name, and remembers their names.
type tunnel struct {
	to  string // "127.0.0.1:41234"
	srv *httptest.Server

	mu    sync.Mutex // guards hosts
	hosts []string   // "api.groq.com:443"
}

func newTunnel(t testing.TB, to string) *tunnel {
	t.Helper()
	p := &tunnel{to: to}
	p.srv = httptest.NewServer(p)
	t.Cleanup(p.srv.Close)
	return p
}

// url is what transport.Options.Proxy returns for every host.
func (p *tunnel) url(*url.URL) (*url.URL, error) { return url.Parse(p.srv.URL) }

// led reports whether a tunnel was asked for to the host of a request's Host line.
func (p *tunnel) led(host string) bool {
	if !strings.Contains(host, ":") {
		host += ":443"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.hosts, host)
}

// ServeHTTP joins the caller of CONNECT to the one address there is.
func (p *tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		http.Error(w, "only tunnels lead out of here", http.StatusMethodNotAllowed)
		return
	}
	p.mu.Lock()
	p.hosts = append(p.hosts, r.Host)
	p.mu.Unlock()
	far, err := net.Dial("tcp", p.to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = far.Close()
		return
	}
	if _, err := io.WriteString(near, "HTTP/1.1 200 Connected\r\n\r\n"); err == nil {
		join(near, far)
	}
	_, _ = near.Close(), far.Close()
}

// join carries bytes both ways until one side ends.
func join(a, b net.Conn) {
	done := make(chan struct{}, 2)
	pump := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // the end of a connection is what it waits for
		done <- struct{}{}
	}
	go pump(a, b)
	go pump(b, a)
	<-done
	_, _ = a.Close(), b.Close()
	<-done
}
