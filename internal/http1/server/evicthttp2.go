package server

import (
	"context"
	"net"
	"time"
)

// Rest serves the connections that are handed over; an HTTP/2 connection has several requests at
// once. The functions below set the state of such connections. They count requests by their
// handlers: net/http counts a stream as active before its header was checked, and while its
// client does not read.

// addRest records that Rest serves a connection from now on.
func (e *evictions) addRest(c *conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.rest == nil {
		e.rest = map[*conn]struct{}{}
	}
	e.rest[c] = struct{}{}
}

// beginRequest records that a handler begins. If waits is true, it waits for a body. It returns
// false if the connection is being closed.
func (e *evictions) beginRequest(c *conn, waits bool) bool {
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
	e.updateUse(c)
	return true
}

// serveWaiting records that a handler does not wait for a body any more. It returns false if the
// connection is being closed.
func (e *evictions) serveWaiting(c *conn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	c.waiting--
	c.handlers++
	if c.state.Load() == closed {
		return false
	}
	e.updateUse(c)
	return true
}

// endRequest records that a handler has ended. wait is its wait for a body, nil without one. The
// connection may be evicted while net/http waits for the rest of the body or for the next
// request.
func (e *evictions) endRequest(c *conn, wait *bodyWait) {
	waits := wait != nil && !wait.isDone()
	if waits {
		wait.finish(false)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if waits {
		c.waiting--
	} else {
		c.handlers--
	}
	if c.state.Load() != closed {
		e.updateUse(c)
	}
}

// updateUse sets the state of an open connection by its requests: it serves one, it waits for the
// body of one, or it is idle. The caller holds e.mu.
func (e *evictions) updateUse(c *conn) {
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
		c.state.Store(reading) // not unused, because a shutdown closes those at once
	}
}

// setStreams records whether net/http reports open streams.
func (e *evictions) setStreams(c *conn, open bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c.streams = open && c.http2
}

// isResponding reports whether the end of a response may still be in transit although its handler
// has ended. The client has as much time to read it as for any other write. The caller holds
// evictions.mu.
func (c *conn) isResponding(now time.Time) bool {
	if !c.streams || c.inSilent != nil {
		return false
	}
	return now.UnixNano()-c.idleSince.Load() < int64(c.s.Patience.WriteStall)
}

// connKey is the key of a *conn in the contexts of requests that Rest serves.
type connKey struct{}

// withConn is http.Server.ConnContext.
func withConn(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, unwrapConn(nc))
}

// connOf returns the connection of a request that Rest serves, or nil if it is not known.
func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}
