package transport_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync/atomic"
	"testing"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/transport"
)

// noNames is a resolver that knows no name.
type noNames struct{}

func (noNames) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// proxy is a forward proxy that asks for credentials and knows names of its own.
type proxy struct {
	target  string // where every call goes
	tunnels atomic.Int32
	plain   atomic.Int32
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Proxy-Authorization") != "Basic dTpw" {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	if r.Method != http.MethodConnect {
		p.plain.Add(1)
		_, _ = io.WriteString(w, "forwarded "+r.URL.String())
		return
	}
	p.tunnels.Add(1)
	up, err := net.Dial("tcp", p.target)
	if err != nil {
		w.WriteHeader(502)
		return
	}
	defer up.Close()
	w.WriteHeader(200)
	down, rest, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer down.Close()
	go func() { _, _ = io.Copy(up, rest); _ = up.(*net.TCPConn).CloseWrite() }()
	_, _ = io.Copy(down, up)
}

func TestProxy(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"https", "h2"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			base, o := newServer(t, kind, http.HandlerFunc(echo))
			p := &proxy{target: base.Host}
			s := httptest.NewServer(p)
			t.Cleanup(s.Close)
			o.Guard = netguard.New(nil).WithResolver(noNames{}) // the proxy itself is not subject to it
			o.Proxy = func(*url.URL) (*url.URL, error) { return url.Parse("http://u:p@" + s.Listener.Addr().String()) }
			c := newClient(t, o)
			r := post(base, wire.Bytes([]byte("hi")))
			r.Host = "example.com" // a name of the test certificate
			for range 2 {
				resp, body, err := call(c, r)
				if err != nil || body != "hi" || resp.Proto != kinds[kind] {
					t.Fatalf("%q %v", body, err)
				}
			}
			if p.tunnels.Load() != 1 {
				t.Errorf("%d tunnels for two calls", p.tunnels.Load())
			}
			r.Scheme = "http"
			if _, body, err := call(c, r); body != "forwarded http://example.com/v1/chat/completions" || err != nil {
				t.Errorf("%q %v", body, err)
			}
			res, err := c.HTTPClient().Get("https://example.com/")
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if p.tunnels.Load() != 2 || res.ProtoMajor != 1 {
				t.Errorf("HTTPClient: %d tunnels, %s", p.tunnels.Load(), res.Proto)
			}
			r.Host = "169.254.169.254"
			if _, _, err := call(c, r); !fault.Has(err, fault.AddressRefused) {
				t.Errorf("metadata through the proxy: %v", err)
			}
		})
	}
}

// A proxy may itself be reached over TLS, here one whose certificate nobody trusts.
func TestProxyOverTLS(t *testing.T) {
	t.Parallel()
	base, o := newServer(t, "https", http.HandlerFunc(echo))
	o.Proxy = func(*url.URL) (*url.URL, error) { return url.Parse("https://" + base.Host) }
	_, _, err := call(newClient(t, o), base)
	var unknown *tls.CertificateVerificationError
	if !fault.Has(err, fault.UpstreamUnreachable) || !errors.As(err, &unknown) {
		t.Error(err)
	}
}

func TestProxyRefuses(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(&proxy{})
	t.Cleanup(s.Close)
	for name, raw := range map[string]string{
		"no credentials": s.URL,
		"not listening":  "http://127.0.0.1:1",
		"other scheme":   "socks5://127.0.0.1:1",
	} {
		c := newClient(t, transport.Options{Proxy: func(*url.URL) (*url.URL, error) { return url.Parse(raw) }})
		r := transport.Request{Method: "GET", Scheme: "https", Host: "127.0.0.1", Target: "/"}
		if _, _, err := call(c, r); !fault.Has(err, fault.UpstreamUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHTTPClientFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	base, o := newServer(t, "http", http.RedirectHandler("http://169.254.169.254/", http.StatusFound))
	res, err := newClient(t, o).HTTPClient().Get("http://" + base.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusFound {
		t.Errorf("status %d", res.StatusCode)
	}
}

func TestHTTPClientUpgrades(t *testing.T) {
	t.Parallel()
	base, o := newServer(t, "https", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Upgrade", "echo")
		w.Header().Set("Connection", "Upgrade")
		w.WriteHeader(http.StatusSwitchingProtocols)
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		line, _ := rw.ReadString('\n')
		_, _ = rw.WriteString("echo " + line)
		_ = rw.Flush()
	}))
	req, err := http.NewRequest("GET", "https://"+base.Host, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	res, err := newClient(t, o).HTTPClient().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	rwc, ok := res.Body.(io.ReadWriteCloser)
	if !ok {
		t.Fatalf("status %d, body cannot be written", res.StatusCode)
	}
	_, _ = io.WriteString(rwc, "hi\n")
	if b, err := io.ReadAll(rwc); string(b) != "echo hi\n" || err != nil {
		t.Errorf("%q %v", b, err)
	}
}
