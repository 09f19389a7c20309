package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"sluice/internal/http1/socket"
	"sluice/internal/kernel/fault"
)

// dial connects to the host, through its proxy if it has one, and performs the handshake. raw
// is the underlying TCP connection.
func (h *host) dial(ctx context.Context, t timing) (nc, raw net.Conn, err error) {
	end := time.Now().Add(h.c.opts.ConnectTimeout)
	if !t.limit.IsZero() && t.limit.Before(end) {
		end = t.limit
	}
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	return h.connect(ctx, h.tls, h.secure)
}

// connect opens the connection. tunnel means that a proxy must not see the call. A non-nil cfg
// requires TLS.
func (h *host) connect(ctx context.Context, cfg *tls.Config, tunnel bool) (nc, raw net.Conn, err error) {
	if h.proxy == nil {
		raw, err = h.c.opts.Guard.Dial(ctx, "tcp", h.addr)
		raw = socket.Wrap(raw)
		nc = raw
	} else {
		nc, raw, err = h.viaProxy(ctx, tunnel)
	}
	if err != nil || cfg == nil {
		return nc, raw, err
	}
	tc := tls.Client(nc, cfg)
	if err := tc.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, nil, fmt.Errorf("tls handshake: %w", err)
	}
	return tc, raw, nil
}

// viaProxy connects to the proxy and, for a tunnel, requests one. It checks the addresses of
// the host when the name resolves here. When only the proxy can resolve the name, the proxy
// decides.
func (h *host) viaProxy(ctx context.Context, tunnel bool) (nc, raw net.Conn, err error) {
	name, _, _ := net.SplitHostPort(h.addr)
	if _, err := h.c.opts.Guard.Resolve(ctx, name); fault.Has(err, fault.AddressRefused) {
		return nil, nil, err
	}
	nc, raw, err = dialProxy(ctx, h.proxy)
	if err != nil || !tunnel {
		return nc, raw, err
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	if err := connectTunnel(nc, h.addr, basicAuth(h.proxy)); err != nil {
		_ = raw.Close()
		return nil, nil, fmt.Errorf("proxy: %w", err)
	}
	return nc, raw, nil
}

// dialProxy connects to a proxy, with TLS when its URL has the scheme https.
func dialProxy(ctx context.Context, proxy *url.URL) (nc, raw net.Conn, err error) {
	port := proxy.Port()
	switch {
	case proxy.Scheme != "http" && proxy.Scheme != "https":
		return nil, nil, errors.New("proxy: its scheme must be http or https")
	case port == "" && proxy.Scheme == "http":
		port = "80"
	case port == "":
		port = "443"
	}
	var d net.Dialer
	raw, err = d.DialContext(ctx, "tcp", net.JoinHostPort(proxy.Hostname(), port))
	if err != nil || proxy.Scheme == "http" {
		return raw, raw, err
	}
	tc := tls.Client(raw, &tls.Config{ServerName: proxy.Hostname(), MinVersion: tls.VersionTLS12})
	if err := tc.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, nil, fmt.Errorf("proxy tls handshake: %w", err)
	}
	return tc, raw, nil
}

// connectTunnel requests a tunnel to addr. The peer sends nothing after the head of the
// response before the client writes, so reading bytewise is not needed.
func connectTunnel(nc net.Conn, addr, auth string) error {
	req := "CONNECT " + addr + " HTTP/1.1\r\nHost: " + addr + "\r\n"
	if auth != "" {
		req += "Proxy-Authorization: " + auth + "\r\n"
	}
	if _, err := nc.Write([]byte(req + "\r\n")); err != nil {
		return err
	}
	buf := getBuffer()
	defer buf.release()
	head, err := buf.readHead(nc, maxProxyHead, nil)
	switch {
	case err != nil:
		return err
	case head.status != 200:
		return fmt.Errorf("the proxy returned status %d to CONNECT", head.status)
	case buf.pending() > 0:
		return errors.New("the proxy sent bytes before the tunnel was used")
	}
	return nil
}

// maxProxyHead is the maximum size of a proxy's response to CONNECT.
const maxProxyHead = 16 << 10
