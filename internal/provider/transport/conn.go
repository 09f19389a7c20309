package transport

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"sluice/internal/kernel/wire"
)

// conn is one HTTP/1.1 connection. While in use it belongs to the call; otherwise it is in the
// pool of its host.
type conn struct {
	h    *host
	nc   net.Conn // connection that HTTP uses: the TLS connection, or raw itself
	raw  net.Conn // the TCP connection; closing it never waits
	peek socketProbe

	since              time.Time // when it was put into the pool
	readLimit, written time.Time // deadlines in force; zero means none
	probe              [1]byte

	// ended is set before a cancelled context closes the connection.
	ended atomic.Pointer[error]
}

func newConn(h *host, nc, raw net.Conn) *conn {
	return &conn{h: h, nc: nc, raw: raw, peek: newPeeker(raw)}
}

func (cn *conn) close() { _ = cn.raw.Close() }

// abort closes the connection because the caller's context has ended.
func (cn *conn) abort(cause error) {
	cn.ended.Store(&cause)
	cn.close()
}

// failure returns the error to report for an error of the connection: that of the context when
// its end closed the connection.
func (cn *conn) failure(err error, describe func(error) error) error {
	if cause := cn.ended.Load(); cause != nil {
		return cancelled(*cause)
	}
	return describe(err)
}

// usable reports whether a pooled connection is neither too old nor closed by the peer. A
// connection that received bytes while unused is not usable either: they belong to no call, and
// the next caller would read them as its response. The check runs every time, however short the
// connection was unused, because bytes can arrive at any time after the last response was read.
func (cn *conn) usable(now time.Time) bool {
	return now.Sub(cn.since) < cn.h.c.opts.IdleConnTimeout && cn.peek.silent() && cn.drained()
}

// longAgo is a deadline with which reads return only what has already arrived.
var longAgo = time.Unix(1, 0)

// drained reports whether TLS has no unread data in its read-ahead buffer. A probe of the TCP
// connection does not show that data.
func (cn *conn) drained() bool {
	if cn.nc == cn.raw {
		return true
	}
	cn.readLimit = longAgo
	if err := cn.nc.SetReadDeadline(longAgo); err != nil {
		return false
	}
	n, err := cn.nc.Read(cn.probe[:])
	return n == 0 && timedOut(err)
}

// deadlineTolerance returns how much later than requested a deadline may expire, so that it need
// not be set again for every call and read.
func deadlineTolerance(timeout time.Duration) time.Duration { return min(time.Second, timeout/8) }

// due returns whether a deadline must be set again, and to which time. Limit is when it should
// expire, zero for never; set is the deadline in force.
func due(set, limit time.Time, timeout time.Duration) (time.Time, bool) {
	if limit.IsZero() {
		return limit, !set.IsZero()
	}
	s := deadlineTolerance(timeout)
	if !set.Before(limit) && set.Sub(limit) <= s {
		return set, false
	}
	return limit.Add(s), true
}

// armHead sets the deadline for receiving the head.
func (cn *conn) armHead(t timing) {
	if d, set := due(cn.readLimit, t.limit, t.head); set {
		cn.readLimit = d
		_ = cn.nc.SetReadDeadline(d) // fails only when closed, which the next call detects
	}
}

// armSend sets the deadline for sending the request.
func (cn *conn) armSend(t timing) {
	if d, set := due(cn.written, t.limit, t.head); set {
		cn.written = d
		_ = cn.nc.SetWriteDeadline(d)
	}
}

// armBody sets the deadline for receiving the next part of the body.
func (cn *conn) armBody(idle time.Duration) {
	var limit time.Time
	if idle > 0 {
		limit = time.Now().Add(idle)
	} else if cn.readLimit.IsZero() {
		return
	}
	if d, set := due(cn.readLimit, limit, idle); set {
		cn.readLimit = d
		_ = cn.nc.SetReadDeadline(d)
	}
}

// maxInterim is the maximum number of 1xx responses before the final one.
const maxInterim = 8

// roundTrip sends r and reads the head of the response. With an error, failurePhase states
// whether the upstream may have acted on r.
func (cn *conn) roundTrip(ctx context.Context, r *Request, t timing) (*Response, failurePhase, error) {
	a := r.ResponseBuffer.begin()
	b := &a.body
	b.cn, b.idle, b.buf = cn, r.IdleTimeout, getBuffer()
	cn.armSend(t)
	hurried := r.Body.Replayable() && r.Body.Len() <= bufferBytes // so few bytes that the kernel accepts them without waiting
	if hurried {
		cn.expireNow(t)
	} else {
		cn.armHead(t)
		b.watch(r.detached(ctx))
	}
	sendErr := b.send(r)
	h, err := b.receive(a.lines)
	if hurried && timedOut(err) {
		b.watch(r.detached(ctx))
		cn.armHead(t)
		b.buf = b.buf.shrink()
		h, err = b.receiveRest(a.lines)
	}
	if err != nil {
		l := b.classifyFailure(err, sendErr)
		late := sendErr == nil && timedOut(err)
		if err = b.attributeError(err, sendErr); late && r.late(a) {
			return nil, l, err
		}
		b.finish(false)
		return nil, l, err
	}
	if b.up != nil && !cn.written.IsZero() { // sending the rest may take as long as the response
		cn.written = time.Time{}
		_ = cn.nc.SetWriteDeadline(cn.written)
	}
	a.fill(h, r.Method)
	if b.stop == nil && b.waits() {
		b.watch(r.detached(ctx))
	}
	return &a.Response, 0, nil
}

// Watching a context costs more than the rest of a call. So the first wait does without it, for
// responses that come at once, from a cache or a nearby model. That wait ends after haste, or up
// to hasteSlack later, because the deadline need not be set again for every call.
const (
	haste      = 25 * time.Millisecond
	hasteSlack = 50 * time.Millisecond
)

// expireNow sets the deadline of the first wait for the head.
func (cn *conn) expireNow(t timing) {
	first := t.start.Add(haste)
	last := first.Add(hasteSlack)
	switch {
	case !t.limit.IsZero() && t.limit.Before(last):
		cn.armHead(t)
	case cn.readLimit.Before(first) || cn.readLimit.After(last):
		cn.readLimit = last
		_ = cn.nc.SetReadDeadline(last) // fails only when closed, which the next call detects
	}
}

// watch closes the connection when ctx ends.
func (b *body) watch(ctx context.Context) {
	if cn := b.cn; ctx.Done() != nil {
		b.stop = context.AfterFunc(ctx, func() { cn.abort(ctx.Err()) })
	}
}

// receive reads the head of the response and skips interim ones.
func (b *body) receive(into wire.Header) (head, error) {
	b.buf.start, b.buf.end = 0, 0
	return b.receiveRest(into)
}

// receiveRest is receive with the part of the head that has already arrived.
func (b *body) receiveRest(into wire.Header) (head, error) {
	for range maxInterim + 1 {
		h, err := b.buf.readHead(b.cn.nc, b.cn.h.c.opts.MaxHeadBytes, into)
		b.received = b.received || b.buf.end > 0 // checked here: the buffer drops interim responses
		switch {
		case err != nil || h.status >= 200:
			return h, err
		case h.status == 101:
			return h, garbage("the protocol was switched without a request")
		}
	}
	return head{}, garbage("too many interim responses")
}

// classifyFailure returns the failurePhase of a request without a response.
func (b *body) classifyFailure(err, sendErr error) failurePhase {
	switch {
	case b.received || timedOut(err): // after a timeout the upstream may still be working
		return perhapsActed
	case sendErr != nil:
		return notActed
	}
	return noResponse
}

// attributeError returns the error to report when there is no response: that of the request's
// body, of the context, or of the connection.
func (b *body) attributeError(err, sendErr error) error {
	if cause := b.up.sourceErr(); cause != nil && b.cn.ended.Load() == nil {
		return cause
	}
	return b.cn.failure(errors.Join(err, sendErr), noHead)
}
