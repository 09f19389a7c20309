package transport

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"sluice/internal/kernel/fault"
)

// hostKey is the key under which connections are shared.
type hostKey struct {
	scheme, host string
	tls          *tls.Config // identity; nil for that of Options
}

// host is one upstream host: its address, its protocol and its connections.
type host struct {
	c         *Client
	secure    bool
	addr      string   // "api.example.com:443"
	proxy     *url.URL // nil: direct
	absolute  string   // "http://api.example.com" when a proxy forwards plain HTTP calls
	proxyAuth string   // complete header line for such a proxy, or empty
	tls       *tls.Config

	mu       sync.Mutex // guards the fields below
	idle     []*conn    // most recently used last
	multi    []*http.ClientConn
	protocol protocol
	dialing  *dialing // attempt to open the first, or another HTTP/2, connection; nil when none is running
	used     time.Time
	gone     bool // no longer in the client's map; pools no connections
}

// protocol is the one that the last TLS handshake chose.
type protocol int

const (
	unknown protocol = iota
	http1
	http2
)

// dialing is a connection attempt that other calls wait for.
type dialing struct {
	done chan struct{}
	err  error // set before done is closed; nil when the waiters should try again
}

// newHost validates the scheme and host of key and returns a host for them.
func newHost(c *Client, key hostKey) (*host, error) {
	if key.scheme != "http" && key.scheme != "https" {
		return nil, invalidRequest("the scheme must be http or https")
	}
	u, err := url.Parse(key.scheme + "://" + key.host)
	if err != nil || u.Host != key.host || u.User != nil || u.Hostname() == "" || strings.ContainsAny(key.host, "/?#@\\% ") {
		return nil, invalidRequest("the host is not valid")
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[key.scheme]
	}
	h := &host{c: c, secure: key.scheme == "https", addr: net.JoinHostPort(u.Hostname(), port), used: time.Now()}
	if h.proxy, err = c.opts.Proxy(u); err != nil {
		return nil, fault.Wrap(fault.UpstreamUnreachable, err)
	}
	if h.secure {
		h.tls = c.tlsConfig(key.tls, u.Hostname())
	} else if h.proxy != nil {
		h.absolute = "http://" + key.host
		if auth := basicAuth(h.proxy); auth != "" {
			h.proxyAuth = "Proxy-Authorization: " + auth + "\r\n"
		}
	}
	return h, nil
}

// tlsConfig returns the TLS config for handshakes with one host.
func (c *Client) tlsConfig(identity *tls.Config, name string) *tls.Config {
	base, sessions := c.opts.TLSConfig, c.sessions
	if identity != nil {
		base, sessions = identity, tls.NewLRUClientSessionCache(0) // a resumed session includes its identity
	}
	cfg := base.Clone()
	cfg.ServerName = name
	cfg.NextProtos = []string{"h2", "http/1.1"}
	cfg.MinVersion = max(cfg.MinVersion, tls.VersionTLS12)
	if cfg.ClientSessionCache == nil {
		cfg.ClientSessionCache = sessions
	}
	return cfg
}

// basicAuth returns the Proxy-Authorization value for a proxy URL's credentials, or "".
func basicAuth(proxy *url.URL) string {
	if proxy.User == nil {
		return ""
	}
	password, _ := proxy.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(proxy.User.Username()+":"+password))
}

// do sends r once. Again means that the connection was, as far as can be detected, closed while
// unused, and that r may be sent once more.
func (h *host) do(ctx context.Context, r *Request, t timing, fresh bool) (resp *Response, again bool, err error) {
	cn, multi, pooled, err := h.acquire(ctx, &t, fresh)
	if err != nil {
		return nil, false, err
	}
	var l failurePhase
	if multi != nil {
		resp, l, err = h.stream(ctx, multi, r, t)
	} else {
		resp, l, err = cn.roundTrip(ctx, r, t)
	}
	if err != nil {
		return nil, pooled && r.Body.Replayable() && t.repeatable(r.Method, l) && ctx.Err() == nil, err
	}
	resp.Queue, resp.Connect = t.queue, t.connect
	return resp, false, nil
}

// acquire returns a connection from the pool or opens one: an exclusive HTTP/1.1 connection, or
// an HTTP/2 connection with a reserved stream. With fresh it drops unused HTTP/1.1 connections.
// It records in t how long it waited and connected.
func (h *host) acquire(ctx context.Context, t *timing, fresh bool) (cn *conn, multi *http.ClientConn, pooled bool, err error) {
	for {
		h.mu.Lock()
		h.used = t.start
		if cc := h.reserve(); cc != nil {
			h.mu.Unlock()
			return nil, cc, true, nil
		}
		if cn := h.pop(fresh); cn != nil {
			h.mu.Unlock()
			if cn.usable(t.start) {
				return cn, nil, true, nil
			}
			cn.close()
			continue
		}
		if !h.secure || h.protocol == http1 {
			h.mu.Unlock()
			cn, multi, err = h.open(ctx, t)
			return cn, multi, false, err
		}
		d := h.dialing
		if d == nil {
			d = &dialing{done: make(chan struct{})}
			h.dialing = d
			h.mu.Unlock()
			cn, multi, err = h.openFor(ctx, t, d)
			return cn, multi, false, err
		}
		h.mu.Unlock()
		if err := d.wait(ctx, t); err != nil {
			return nil, nil, false, err
		}
	}
}

// openFor opens a connection and notifies all calls that wait for d, however open ends.
func (h *host) openFor(ctx context.Context, t *timing, d *dialing) (cn *conn, multi *http.ClientConn, err error) {
	defer func() {
		h.mu.Lock()
		h.dialing = nil
		h.mu.Unlock()
		if ctx.Err() == nil && !fault.Has(err, fault.UpstreamTimeout) { // the opener's limits do not apply to the waiters
			d.err = err
		}
		close(d.done)
	}()
	return h.open(ctx, t)
}

// wait waits for another call's connection attempt, within the limits of ctx and t.
func (d *dialing) wait(ctx context.Context, t *timing) error {
	defer t.since(&t.queue, time.Now())
	var limit <-chan time.Time
	if !t.limit.IsZero() {
		timer := time.NewTimer(time.Until(t.limit))
		defer timer.Stop()
		limit = timer.C
	}
	select {
	case <-d.done:
		return d.err
	case <-ctx.Done():
		return cancelled(ctx.Err())
	case <-limit:
		return fault.Wrap(fault.UpstreamTimeout, errHeadTimeout)
	}
}

// opened is the result of open: a connection, or why there is none.
type opened struct {
	cn       *conn
	multi    *http.ClientConn
	err      error
	panicked error // recovered panic, with its stack
}

// open connects and detects the protocol, in a separate goroutine. Dialling and a handshake need
// a much larger stack than the rest of a call. A call that waits for its response, or relays a
// stream for minutes, would retain a stack of that size. A panic is raised again in the
// goroutine of the call, which does the rest of the cleanup.
func (h *host) open(ctx context.Context, t *timing) (*conn, *http.ClientConn, error) {
	defer t.since(&t.connect, time.Now())
	made := make(chan opened, 1)
	go func(t timing) {
		var o opened
		defer func() {
			if p := recover(); p != nil {
				o.panicked = fmt.Errorf("while connecting: %v\n%s", p, debug.Stack())
			}
			made <- o
		}()
		o.cn, o.multi, o.err = h.openConn(ctx, t)
	}(*t)
	o := <-made // openConn observes the limits of ctx and t
	if o.panicked != nil {
		panic(o.panicked)
	}
	return o.cn, o.multi, o.err
}

// openConn is open without the separate goroutine.
func (h *host) openConn(ctx context.Context, t timing) (*conn, *http.ClientConn, error) {
	nc, raw, err := h.dial(ctx, t)
	if err != nil {
		return nil, nil, unreachable(ctx, t, err)
	}
	tc, ok := nc.(*tls.Conn)
	if !ok || tc.ConnectionState().NegotiatedProtocol != "h2" {
		h.rememberProtocol(http1)
		return newConn(h, nc, raw), nil, nil
	}
	cc, err := h.multiplex(ctx, tc)
	if err != nil {
		return nil, nil, unreachable(ctx, t, err)
	}
	return nil, cc, nil
}

func (h *host) rememberProtocol(p protocol) {
	h.mu.Lock()
	h.protocol = p
	h.mu.Unlock()
}
