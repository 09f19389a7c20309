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

	"sluice/internal/fault"
)

// hostKey is what connections are shared by.
type hostKey struct {
	scheme, host string
	tls          *tls.Config // identity; nil for that of Options
}

// host is what the client knows of one upstream host: how to reach it, which
// protocol it speaks and its connections.
type host struct {
	c         *Client
	secure    bool
	addr      string   // "api.example.com:443"
	proxy     *url.URL // nil: direct
	absolute  string   // "http://api.example.com" when a proxy forwards plain calls
	proxyAuth string   // whole header line for such a proxy, or empty
	tls       *tls.Config

	mu       sync.Mutex // guards what follows
	idle     []*conn    // the last one was used last
	multi    []*http.ClientConn
	protocol protocol
	dialing  *dialing // first or further HTTP/2 connection in the making
	used     time.Time
	gone     bool // not in the client's map: keeps nothing
}

// protocol is what the last TLS handshake chose.
type protocol int

const (
	unknown protocol = iota
	http1
	http2
)

// dialing is a connection attempt that others wait for.
type dialing struct {
	done chan struct{}
	err  error // set before done is closed; nil when they should look again
}

// newHost makes the entry of a host after checking the words that lead to it.
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

// tlsConfig is what handshakes with one host use.
func (c *Client) tlsConfig(identity *tls.Config, name string) *tls.Config {
	base, sessions := c.opts.TLSConfig, c.sessions
	if identity != nil {
		base, sessions = identity, tls.NewLRUClientSessionCache(0) // a resumed session carries its identity
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

// basicAuth is the value that shows a proxy URL's credentials, or "".
func basicAuth(proxy *url.URL) string {
	if proxy.User == nil {
		return ""
	}
	password, _ := proxy.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(proxy.User.Username()+":"+password))
}

// do sends r once. Again says that the failure came from a connection which had
// been closed while unused, as far as can be told, and that r may be sent once more.
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

// acquire finds or makes a connection: an HTTP/1.1 connection of one's own, or a
// reserved place on an HTTP/2 connection. Fresh leaves unused HTTP/1.1
// connections aside. How long it waited and connected it notes in t.
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

// openFor is open for all that wait for d, too, however it ends.
func (h *host) openFor(ctx context.Context, t *timing, d *dialing) (cn *conn, multi *http.ClientConn, err error) {
	defer func() {
		h.mu.Lock()
		h.dialing = nil
		h.mu.Unlock()
		if ctx.Err() == nil && !fault.Has(err, fault.UpstreamTimeout) { // the opener's limits are not theirs
			d.err = err
		}
		close(d.done)
	}()
	return h.open(ctx, t)
}

// wait waits for another's connection attempt within one's own limits.
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

// opened is a connection that was made, or why there is none.
type opened struct {
	cn       *conn
	multi    *http.ClientConn
	err      error
	panicked error // what was recovered, and where
}

// open connects and learns the protocol, in a goroutine of its own: dialling and a
// handshake take much more of a stack than what comes after them, and a call that waits
// for its answer, or relays a stream for minutes, would keep a stack of that size. A panic
// goes on in the goroutine of the call, which knows what else has to end with it.
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
	o := <-made // it keeps to the limits of ctx and t by itself
	if o.panicked != nil {
		panic(o.panicked)
	}
	return o.cn, o.multi, o.err
}

// openConn is open in the goroutine at hand.
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
