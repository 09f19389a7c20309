package transport

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"
)

// HTTPClient returns a net/http client with the same guard, proxy, TLS settings and limits as
// Do. It is for calls other than relayed model calls: WebSocket handshakes, fetching keys and
// tokens, webhooks. It uses HTTP/1.1, returns redirects as responses instead of following them,
// and decompresses nothing. It has no timeout: give requests a context. It is shared and must
// not be changed. Refused addresses are a *fault.Error inside the *url.Error.
func (c *Client) HTTPClient() *http.Client { return c.plain }

func (c *Client) newHTTPClient() *http.Client {
	dial := func(scheme string) func(context.Context, string, string) (net.Conn, error) {
		return func(ctx context.Context, _, addr string) (net.Conn, error) { return c.dialPlain(ctx, scheme, addr) }
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            dial("http"),
			DialTLSContext:         dial("https"),
			DisableCompression:     true,
			IdleConnTimeout:        c.opts.IdleConnTimeout,
			MaxIdleConnsPerHost:    8,
			MaxIdleConns:           64,
			MaxResponseHeaderBytes: int64(c.opts.MaxHeadBytes),
			ExpectContinueTimeout:  time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// dialPlain connects for net/http. It always requests a tunnel from a proxy, because WebSocket
// needs one. Source: RFC 6455 section 4.1.
func (c *Client) dialPlain(ctx context.Context, scheme, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.ConnectTimeout)
	defer cancel()
	name, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	h := &host{c: c, addr: addr}
	if h.proxy, err = c.opts.Proxy(&url.URL{Scheme: scheme, Host: addr}); err != nil {
		return nil, err
	}
	var cfg *tls.Config
	if scheme == "https" {
		cfg = c.tlsConfig(nil, name)
		cfg.NextProtos = []string{"http/1.1"}
	}
	nc, _, err := h.connect(ctx, cfg, true)
	return nc, err
}
