package transport

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"
)

// HTTPClient returns a client of net/http with the same guard, proxy, TLS settings
// and limits as Do, for what is not the relay of a model call: WebSocket
// handshakes, fetching keys and tokens, web hooks. It speaks HTTP/1.1, follows no
// redirects (they are returned as answers) and decompresses nothing. It has no
// timeout of its own: give requests a context. It is shared; do not change it.
// Refused addresses are a *fault.Error inside the *url.Error.
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

// dialPlain connects for net/http. A proxy is asked for a tunnel in any case, as
// WebSocket needs it. Source: RFC 6455 section 4.1.
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
