package server

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// The reasons for which connections are evicted, as metrics name them.
const (
	EvictedSilent = "no_request"   // no slot was free, and the connection had not sent a complete request
	EvictedIdle   = "idle"         // no slot was free, and the connection waited for its next request
	EvictedShare  = "client_share" // its client had more connections without a complete request than its share
)

const (
	// evictAfter is how long a connection must be silent or idle before it can be evicted to
	// free a slot: clients need some time for their handshake.
	evictAfter = 250 * time.Millisecond
	// unreadFor is how long a silent connection is spared while it has bytes that were not
	// read yet: its goroutine may not have run.
	unreadFor = 5 * time.Second
	// silentFraction is the divisor of the fraction of all slots, a quarter. While silent
	// connections hold at least that fraction, idle ones are not evicted, even if no silent one
	// is old enough to be evicted.
	silentFraction = 4
	// maxEvictionChecks is how many connections are checked for one eviction.
	maxEvictionChecks = 64
	// maxDefaultShare is the maximum default share of one client.
	maxDefaultShare = 4096
	// minDefaultShare is the minimum one: a client opens several connections at once.
	minDefaultShare = 8
)

// evictions selects the connections that are closed to free slots for others. It never selects a
// connection on which a request is being served.
//
// A silent connection has not sent a complete request. It sends nothing, or an incomplete head, or
// does not finish the TLS handshake, or opens HTTP/2 without a stream, or delays the body of a
// request whose caller is not authenticated (bodyWait).
type evictions struct {
	mu      sync.Mutex                // guards the fields up to pending, and every evictionRecord
	silent  list.List                 // of *conn, the oldest first
	clients map[netip.Addr]*list.List // the same, by client
	rest    map[*conn]struct{}        // connections that were handed over
	pending int                       // number of connections that are evicted and still hold their slot

	counts struct{ silent, idle, share atomic.Int64 }

	idle []idleConn // the next to evict, the longest idle last; used only by the accepting goroutine
}

// evictionRecord is the state of a connection that the evictions need. evictions.mu guards it, except
// that http2 is set before other goroutines use it.
type evictionRecord struct {
	inSilent, inClient *list.Element // nil unless it counts as silent
	silentSince        time.Time     // when it became silent
	evicted            bool          // it was evicted and still holds its slot
	gone               bool          // it has ended
	http2              bool          // served by net/http, several requests at once
	streams            bool          // likewise, and net/http has an open stream
	handlers           int           // number of requests that net/http is serving
	waiting            int           // number of requests whose body is incomplete (bodyWait)
}

// idleConn is a connection that has been idle since a time, in Unix nanoseconds.
type idleConn struct {
	c     *conn
	since int64
}

// Evicted returns the number of connections that were evicted for a reason, for example
// EvictedSilent. It returns 0 for unknown reasons. It is safe for concurrent use.
func (s *Server) Evicted(reason string) int64 {
	counts := &s.evictions.counts
	switch reason {
	case EvictedSilent:
		return counts.silent.Load()
	case EvictedIdle:
		return counts.idle.Load()
	case EvictedShare:
		return counts.share.Load()
	}
	return 0
}

// share returns the maximum number of silent connections of one client.
func (s *Server) share() int {
	switch {
	case s.MaxSilentPerClient > 0:
		return s.MaxSilentPerClient
	case s.MaxConns > 0:
		return min(max(s.MaxConns/2, minDefaultShare), maxDefaultShare)
	}
	return maxDefaultShare
}

// clientOf returns the client whose share a connection counts towards: an IPv4 address, or a /64
// network of IPv6, because one client usually has a complete /64.
func clientOf(nc net.Conn) netip.Addr {
	tcp, ok := nc.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	addr := tcp.AddrPort().Addr().Unmap().WithZone("")
	if addr.Is6() {
		network, _ := addr.Prefix(64) // fails only for a wrong length
		return network.Addr()
	}
	return addr
}

// add records a connection as silent.
func (e *evictions) add(c *conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.addLocked(c)
}

func (e *evictions) addLocked(c *conn) {
	if c.inSilent != nil || c.gone {
		return
	}
	if e.clients == nil {
		e.clients = map[netip.Addr]*list.List{}
	}
	l := e.clients[c.client]
	if l == nil {
		l = list.New()
		e.clients[c.client] = l
	}
	c.silentSince = time.Now()
	c.inSilent, c.inClient = e.silent.PushBack(c), l.PushBack(c)
}

// remove stops counting a connection as silent. Repeated calls are allowed.
func (e *evictions) remove(c *conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.removeLocked(c)
}

func (e *evictions) removeLocked(c *conn) {
	if c.inSilent == nil {
		return
	}
	e.silent.Remove(c.inSilent)
	l := e.clients[c.client]
	l.Remove(c.inClient)
	if l.Len() == 0 {
		delete(e.clients, c.client)
	}
	c.inSilent, c.inClient = nil, nil
}

// closed records that a connection has ended. A call of released follows.
func (e *evictions) closed(c *conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.removeLocked(c)
	delete(e.rest, c)
	c.gone = true
}

// released records that a connection has released its slot.
func (e *evictions) released(c *conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.evicted {
		c.evicted = false
		e.pending--
	}
}

// enforceShare evicts the oldest silent connection of a client that already uses its full share.
func (e *evictions) enforceShare(client netip.Addr, share int) {
	e.mu.Lock()
	var victim *conn
	if l := e.clients[client]; l != nil && l.Len() >= share {
		victim = e.evictOldest(l, time.Now())
	}
	e.mu.Unlock()
	if victim != nil {
		e.counts.share.Add(1)
		victim.tcp.Close()
	}
}

// evictOldest marks the oldest evictable connection of a list of silent ones as evicted and returns
// it. It returns nil when no such connection has been silent since before the time. The caller
// holds e.mu.
func (e *evictions) evictOldest(l *list.List, before time.Time) *conn {
	now := time.Now()
	n := 0
	for el := l.Front(); el != nil && n < maxEvictionChecks; el = el.Next() {
		c := el.Value.(*conn)
		if c.silentSince.After(before) {
			return nil // the following ones became silent even later
		}
		if n++; now.Sub(c.silentSince) < unreadFor && c.hasUnread() {
			continue
		}
		if e.markEvicted(c, now) {
			return c
		}
	}
	return nil
}

// markEvicted marks a connection as evicted. It reports false when a request is being served on it,
// or when it has ended. The caller holds e.mu.
func (e *evictions) markEvicted(c *conn, now time.Time) bool {
	if c.gone || c.isResponding(now) || !c.state.CompareAndSwap(unused, closed) && !c.state.CompareAndSwap(reading, closed) && !c.state.CompareAndSwap(fresh, closed) {
		return false
	}
	e.removeLocked(c)
	c.evicted = true
	e.pending++
	return true
}

// evict closes one connection to free its slot for another one, and reports whether a slot will be
// free soon. It prefers silent connections. Only the accepting goroutine calls it.
func (s *Server) evict() bool {
	e := &s.evictions
	before := time.Now().Add(-evictAfter)
	e.mu.Lock()
	if e.pending > 0 {
		e.mu.Unlock()
		return true
	}
	many := e.silent.Len()*silentFraction >= s.MaxConns
	victim := e.evictOldest(&e.silent, before)
	e.mu.Unlock()
	count := &e.counts.silent
	if victim == nil && !many { // otherwise some of them will be old enough soon
		victim, count = s.evictIdle(before), &e.counts.idle
	}
	if victim == nil {
		return false
	}
	count.Add(1)
	victim.tcp.Close()
	return true
}

// complete records that a complete head has arrived. It reports false when another goroutine is
// closing the connection.
func (c *conn) complete() bool {
	if !c.state.CompareAndSwap(reading, active) {
		return false
	}
	if c.silent {
		c.silent = false
		c.s.evictions.remove(c)
	}
	return true
}
