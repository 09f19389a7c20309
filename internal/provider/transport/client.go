package transport

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"sync"
	"time"

	"sluice/internal/fault"
	"sluice/internal/provider/netguard"
)

// Options set a Client up. The zero value of a field stands for its default.
type Options struct {
	// Guard judges every address before it is called. Default: one that trusts nobody.
	Guard *netguard.Guard
	// ConnectTimeout bounds look-up, connecting, the proxy's answer and the TLS
	// handshake together. Default: 10 s.
	ConnectTimeout time.Duration
	// TLSConfig is the base of all TLS connections, for example with further root
	// certificates. ServerName, NextProtos and the session cache are set by the
	// Client; TLS 1.2 is the least version whatever it says. It is not changed.
	TLSConfig *tls.Config
	// IdleConnTimeout is how long an unused connection is kept. Default: 90 s.
	IdleConnTimeout time.Duration
	// MaxIdlePerHost is the number of unused connections kept per host. Default: 256.
	MaxIdlePerHost int
	// MaxHeadBytes bounds the head of an answer. Default: 64 KiB.
	MaxHeadBytes int
	// Proxy names the proxy for a URL, nil for none, as the functions of
	// golang.org/x/net/http/httpproxy do. Proxies are the operator's and not
	// subject to Guard. It is asked once per host. Default: no proxy.
	Proxy func(*url.URL) (*url.URL, error)
}

func (o Options) withDefaults() Options {
	if o.Guard == nil {
		o.Guard = netguard.New(nil)
	}
	if o.TLSConfig == nil {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if o.Proxy == nil {
		o.Proxy = func(*url.URL) (*url.URL, error) { return nil, nil }
	}
	o.ConnectTimeout = positive(o.ConnectTimeout, 10*time.Second)
	o.IdleConnTimeout = positive(o.IdleConnTimeout, 90*time.Second)
	o.MaxIdlePerHost = positive(o.MaxIdlePerHost, 256)
	o.MaxHeadBytes = positive(o.MaxHeadBytes, 64<<10)
	return o
}

func positive[N ~int | ~int64](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}

const (
	// maxHosts bounds the hosts that are remembered, because callers can name any
	// number of them. A further one takes the place of another.
	maxHosts = 4096
	// maxRivals is among how many hosts, taken at random, the one that gives up its
	// place is chosen: enough to find one that is of little use, and so few that who
	// invents hosts takes no time from the others.
	maxRivals = 32
)

// Client calls upstreams. It is safe for concurrent use.
type Client struct {
	opts     Options
	sessions tls.ClientSessionCache
	plain    *http.Client

	mu     sync.RWMutex // guards what follows
	hosts  map[hostKey]*host
	sweeps *time.Timer // runs while there are hosts
	closed bool
}

// New makes a Client. It connects to nothing yet.
func New(o Options) *Client {
	c := &Client{opts: o.withDefaults(), sessions: tls.NewLRUClientSessionCache(1024), hosts: map[hostKey]*host{}}
	c.plain = c.newHTTPClient()
	return c
}

// Do sends r and returns the answer as soon as its head is complete; the caller
// reads the body and must close it, also after its end. R may be used again, its
// Body only if it is replayable. The package comment lists the errors. An error
// means that no answer came; statuses of 400 and above are answers.
//
// When a pooled connection turns out to be dead before one byte of the answer, a
// replayable request is sent once more on a new connection: within 2 s, but one that is
// not idempotent and was sent whole only within 100 ms, because an upstream that fails
// later may have acted on it.
//
// Cancelling ctx, also while the body is read, closes the connection at once, or in
// the first tenth of a second of a call within that.
func (c *Client) Do(ctx context.Context, r *Request) (*Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, cancelled(err)
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	h, err := c.host(r)
	if err != nil {
		return nil, err
	}
	t := newTiming(r)
	resp, again, err := h.do(ctx, r, t, false)
	if err != nil && again {
		resp, _, err = h.do(ctx, r, t, true)
	}
	return resp, err
}

// Close closes all unused connections and those in use when their calls end.
// Calls begun later work, each on a connection of its own.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	hosts := c.hosts
	c.hosts = map[hostKey]*host{}
	if c.sweeps != nil {
		c.sweeps.Stop()
	}
	c.mu.Unlock()
	for _, h := range hosts {
		h.retire()
	}
	c.plain.CloseIdleConnections()
}

// host finds or makes the entry of r's host.
func (c *Client) host(r *Request) (*host, error) {
	key := hostKey{r.Scheme, r.Host, r.TLS}
	c.mu.RLock()
	h := c.hosts[key]
	c.mu.RUnlock()
	if h != nil {
		return h, nil
	}
	h, err := newHost(c, key)
	if err != nil {
		return nil, err
	}
	h, displaced := c.addHost(key, h)
	if displaced != nil {
		displaced.retire() // not under the lock: it closes connections
	}
	return h, nil
}

// addHost remembers a new host, unless another call was first, whose entry it returns
// then. Displaced is the host that made room, nil when there was some: no more is kept
// there, and calls under way go on.
func (c *Client) addHost(key hostKey, h *host) (entry, displaced *host) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if other := c.hosts[key]; other != nil {
		return other, nil
	}
	if c.closed {
		h.gone = true
		return h, nil
	}
	if len(c.hosts) >= maxHosts {
		worst := c.evictionCandidate()
		displaced = c.hosts[worst]
		delete(c.hosts, worst)
	}
	c.hosts[key] = h
	if len(c.hosts) == 1 {
		c.sweepLater()
	}
	return h, displaced
}

// evictionCandidate names a host whose place another may take: one that was never reached
// before all that were, such as are invented by the thousand, and among equals the one
// unused longest. The caller holds mu, and there are hosts.
func (c *Client) evictionCandidate() (worst hostKey) {
	var lowest evictionScore
	rivals := 0
	for key, h := range c.hosts { // begins anywhere
		u := h.evictionScore()
		if rivals == 0 || u.isLess(lowest) {
			worst, lowest = key, u
		}
		if rivals++; rivals == maxRivals {
			break
		}
	}
	return worst
}

// sweepLater sets the clock for sweep. The caller holds mu.
func (c *Client) sweepLater() {
	every := c.opts.IdleConnTimeout / 2
	if c.sweeps == nil {
		c.sweeps = time.AfterFunc(every, c.sweep)
		return
	}
	c.sweeps.Reset(every)
}

// sweep closes connections that were not used for a while and forgets hosts that
// have none.
func (c *Client) sweep() {
	for _, cc := range c.expire(time.Now()) {
		_ = cc.Close() // not under the lock: it takes leave of the peer, who may not listen
	}
}

// expire is sweep but for the HTTP/2 connections that it returns: they are forgotten,
// and to be closed.
func (c *Client) expire(now time.Time) (old []*http.ClientConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, h := range c.hosts {
		multi, forget := h.expire(now)
		old = append(old, multi...)
		if forget {
			delete(c.hosts, key)
		}
	}
	if len(c.hosts) > 0 && !c.closed {
		c.sweepLater()
	}
	return old
}

// invalidRequest is a refusal of what the caller asks to send.
func invalidRequest(what string) *fault.Error {
	return fault.New(fault.InvalidRequest, "cannot send the request upstream: "+what)
}
