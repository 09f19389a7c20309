package transport

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"sync"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/provider/netguard"
)

// Options configure a Client. The zero value of a field selects its default.
type Options struct {
	// Guard checks every address before a connection to it. Default: netguard.New(nil).
	Guard *netguard.Guard
	// ConnectTimeout is the limit for lookup, connecting, the proxy's response and the TLS
	// handshake together. Default: 10 s.
	ConnectTimeout time.Duration
	// TLSConfig is the base of all TLS connections, for example with additional root
	// certificates. The Client sets ServerName, NextProtos and the session cache. TLS 1.2 is the
	// minimum version whatever TLSConfig contains. The Client does not change it.
	TLSConfig *tls.Config
	// IdleConnTimeout is how long an unused connection stays open. Default: 90 s.
	IdleConnTimeout time.Duration
	// MaxIdlePerHost is the maximum number of unused connections per host. Default: 256.
	MaxIdlePerHost int
	// MaxHeadBytes is the maximum size of the head of a response. Default: 64 KiB.
	MaxHeadBytes int
	// Proxy returns the proxy for a URL, nil for none, as the functions of
	// golang.org/x/net/http/httpproxy do. The operator chooses proxies, so Guard does not check
	// them. It is called once per host. Default: no proxy.
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
	// maxHosts is the maximum number of hosts in memory, because callers can name any number of
	// them. A further one evicts another.
	maxHosts = 4096
	// maxRivals is the number of randomly chosen hosts from which one is evicted. It is large
	// enough to find one of little use, and small enough that a caller who invents hosts does
	// not slow down the others.
	maxRivals = 32
)

// Client calls upstreams. It is safe for concurrent use.
type Client struct {
	opts     Options
	sessions tls.ClientSessionCache
	plain    *http.Client

	mu     sync.RWMutex // guards the fields below
	hosts  map[hostKey]*host
	sweeps *time.Timer // runs while there are hosts
	closed bool
}

// New returns a Client. It does not connect yet.
func New(o Options) *Client {
	c := &Client{opts: o.withDefaults(), sessions: tls.NewLRUClientSessionCache(1024), hosts: map[hostKey]*host{}}
	c.plain = c.newHTTPClient()
	return c
}

// Do sends r and returns the response as soon as its head is complete. The caller reads the body
// and must close it, even after its end. R may be used again, its Body only if it is replayable.
// The package comment lists the errors. An error means that there is no response; statuses of
// 400 and above are responses.
//
// A pooled connection can turn out to be dead before the first byte of the response. Do then
// sends a replayable request once more on a new connection, if the failure came within 2 s. A
// request that is not idempotent and was sent completely is repeated only within 100 ms, because
// an upstream that fails later may have acted on it.
//
// Cancelling ctx closes the connection at once, also while the body is read. In the first tenth
// of a second of a call, it may take until the end of that time.
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

// Close closes all unused connections at once, and those in use when their calls end. Later
// calls still work, each on a new connection.
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

// host returns the entry of r's host and creates it if there is none.
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
		displaced.retire() // outside the lock, because it closes connections
	}
	return h, nil
}

// addHost stores a new host. If another call has stored one first, it returns that entry.
// Displaced is the evicted host, nil when the limit is not reached: it pools no more
// connections, and its running calls continue.
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

// evictionCandidate returns the key of a host to evict. Hosts that were never reached go first,
// because callers can invent them by the thousand; among equals, the one unused longest goes.
// The caller holds mu, and there is at least one host.
func (c *Client) evictionCandidate() (worst hostKey) {
	var lowest evictionScore
	rivals := 0
	for key, h := range c.hosts { // starts at a random key
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

// sweepLater schedules sweep. The caller holds mu.
func (c *Client) sweepLater() {
	every := c.opts.IdleConnTimeout / 2
	if c.sweeps == nil {
		c.sweeps = time.AfterFunc(every, c.sweep)
		return
	}
	c.sweeps.Reset(every)
}

// sweep closes connections that have been unused for IdleConnTimeout, and removes hosts without
// connections.
func (c *Client) sweep() {
	for _, cc := range c.expire(time.Now()) {
		_ = cc.Close() // outside the lock: it notifies the peer, which may not be reading
	}
}

// expire does the work of sweep, except that it returns the HTTP/2 connections. They are removed
// from the pool, and the caller closes them.
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

// invalidRequest returns the error for a request that the client must not send.
func invalidRequest(what string) *fault.Error {
	return fault.New(fault.InvalidRequest, "cannot send the request upstream: "+what)
}
