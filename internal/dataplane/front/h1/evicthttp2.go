package h1

import (
	"context"
	"net"
	"time"
)

// Connections that are handed over are served elsewhere, those of HTTP/2 several requests at
// once. What follows sets their state. Requests are counted by their handlers: net/http has a
// stream count as one that is served before its head was judged, and when its client takes
// nothing.

// addRest records that a connection is served elsewhere from now on.
func (e *evictions) addRest(c *conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.rest == nil {
		e.rest = map[*conn]struct{}{}
	}
	e.rest[c] = struct{}{}
}

// beginRequest records that a handler begins; it waits for a body if waits. It reports false
// when the connection is being closed.
func (c *conn) beginRequest(waits bool) bool {
	e := &c.s.evictions
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.state.Load() == closed {
		return false
	}
	if waits {
		c.waiting++
	} else {
		c.handlers++
	}
	c.updateUse()
	return true
}

// serveWaiting records that a handler does not wait for a body any more. It reports false when
// the connection is being closed.
func (c *conn) serveWaiting() bool {
	e := &c.s.evictions
	e.mu.Lock()
	defer e.mu.Unlock()
	c.waiting--
	c.handlers++
	if c.state.Load() == closed {
		return false
	}
	c.updateUse()
	return true
}

// endRequest records that a handler has ended; wait is its wait for a body, nil when it had
// none. While net/http waits for the rest of its body or for the next request the connection
// may be evicted.
func (c *conn) endRequest(wait *bodyWait) {
	waits := wait != nil && !wait.isDone()
	if waits {
		wait.finish(false)
	}
	e := &c.s.evictions
	e.mu.Lock()
	defer e.mu.Unlock()
	if waits {
		c.waiting--
	} else {
		c.handlers--
	}
	if c.state.Load() != closed {
		c.updateUse()
	}
}

// updateUse sets the state of an open connection by its requests: it is served, or it has not
// sent the body of one, or it is idle. The caller holds the mutex of the evictions.
func (c *conn) updateUse() {
	e := &c.s.evictions
	switch {
	case c.handlers > 0:
		e.removeLocked(c)
		c.state.Store(active)
	case c.waiting > 0:
		c.idleSince.Store(time.Now().UnixNano())
		e.addLocked(c)
		c.state.Store(reading)
	default:
		e.removeLocked(c)
		c.idleSince.Store(time.Now().UnixNano())
		c.state.Store(reading) // not unused, which a shutdown closes at once
	}
}

// setStreams records whether net/http knows of open streams.
func (c *conn) setStreams(open bool) {
	c.s.evictions.mu.Lock()
	defer c.s.evictions.mu.Unlock()
	c.streams = open && c.http2
}

// isResponding reports whether the end of an answer may still be on its way although its
// handler has ended. A client that does not take it has as long as for any other write. The
// caller holds the mutex of the evictions.
func (c *conn) isResponding(now time.Time) bool {
	if !c.streams || c.inSilent != nil {
		return false
	}
	return now.UnixNano()-c.idleSince.Load() < int64(c.s.Patience.WriteStall)
}

// connKey is the key of a *conn in the contexts of requests that are served elsewhere.
type connKey struct{}

// withConn is http.Server.ConnContext.
func withConn(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, unwrapConn(nc))
}

// connOf is the connection of a request that is served elsewhere, nil where it is not known.
func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}
