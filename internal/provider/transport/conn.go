package transport

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"sluice/internal/wire"
)

// conn is one HTTP/1.1 connection. While it is in use it belongs to the call; in
// between it lies in the pool of its host.
type conn struct {
	h    *host
	nc   net.Conn // where HTTP is spoken: TLS, or raw itself
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

// failure is what to report for an error of the connection: the end of the
// context when that caused it.
func (cn *conn) failure(err error, describe func(error) error) error {
	if cause := cn.ended.Load(); cause != nil {
		return cancelled(*cause)
	}
	return describe(err)
}

// usable reports whether a pooled connection is neither too old nor closed by the
// peer. Bytes that came while it was unused belong to no call, so that it is not
// usable either: the next caller would take them for his answer. So it is looked at
// each time, however short it was unused: that nothing lay there when the last answer
// was read says nothing of what came since.
func (cn *conn) usable(now time.Time) bool {
	return now.Sub(cn.since) < cn.h.c.opts.IdleConnTimeout && cn.peek.silent() && cn.drained()
}

// longAgo is a deadline that lets reads return only what is there already.
var longAgo = time.Unix(1, 0)

// drained reports whether TLS has nothing left of what it has read ahead, which a
// look at the TCP connection does not show.
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

// deadlineTolerance is how much later than asked a deadline may strike, so that it need not be
// set again for every call and read.
func deadlineTolerance(timeout time.Duration) time.Duration { return min(time.Second, timeout/8) }

// due decides whether a deadline must be set anew, and to when. Limit is when it
// is to strike, zero for never; set is the one in force.
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

// armHead bounds waiting for the head.
func (cn *conn) armHead(t timing) {
	if d, set := due(cn.readLimit, t.limit, t.head); set {
		cn.readLimit = d
		_ = cn.nc.SetReadDeadline(d) // fails only when closed, which the next call tells
	}
}

// armSend bounds sending the request.
func (cn *conn) armSend(t timing) {
	if d, set := due(cn.written, t.limit, t.head); set {
		cn.written = d
		_ = cn.nc.SetWriteDeadline(d)
	}
}

// armBody bounds the next wait for a part of the body.
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

// maxInterim bounds the 1xx answers before the real one.
const maxInterim = 8

// roundTrip sends r and reads the head of the answer. With an error it says what is
// known of what became of r.
func (cn *conn) roundTrip(ctx context.Context, r *Request, t timing) (*Response, failurePhase, error) {
	a := r.ResponseBuffer.begin()
	b := &a.body
	b.cn, b.idle, b.buf = cn, r.IdleTimeout, getBuffer()
	cn.armSend(t)
	hurried := r.Body.Replayable() && r.Body.Len() <= bufferBytes // so little is taken by the kernel without waiting
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
	if b.up != nil && !cn.written.IsZero() { // what is still to be sent may take as long as the answer
		cn.written = time.Time{}
		_ = cn.nc.SetWriteDeadline(cn.written)
	}
	a.fill(h, r.Method)
	if b.stop == nil && b.waits() {
		b.watch(r.detached(ctx))
	}
	return &a.Response, 0, nil
}

// Watching a context costs more than the rest of a call. So an answer that comes at
// once, from a cache or a near model, is waited for without: the first wait ends
// after haste, or up to hasteSlack later, because the deadline need not be set again
// for every call.
const (
	haste      = 25 * time.Millisecond
	hasteSlack = 50 * time.Millisecond
)

// expireNow bounds the first wait for the head.
func (cn *conn) expireNow(t timing) {
	first := t.start.Add(haste)
	last := first.Add(hasteSlack)
	switch {
	case !t.limit.IsZero() && t.limit.Before(last):
		cn.armHead(t)
	case cn.readLimit.Before(first) || cn.readLimit.After(last):
		cn.readLimit = last
		_ = cn.nc.SetReadDeadline(last) // fails only when closed, which the next call tells
	}
}

// watch closes the connection when ctx ends.
func (b *body) watch(ctx context.Context) {
	if cn := b.cn; ctx.Done() != nil {
		b.stop = context.AfterFunc(ctx, func() { cn.abort(ctx.Err()) })
	}
}

// receive reads the head of the answer, past interim ones.
func (b *body) receive(into wire.Header) (head, error) {
	b.buf.start, b.buf.end = 0, 0
	return b.receiveRest(into)
}

// receiveRest is receive with what has come of the head already.
func (b *body) receiveRest(into wire.Header) (head, error) {
	for range maxInterim + 1 {
		h, err := b.buf.readHead(b.cn.nc, b.cn.h.c.opts.MaxHeadBytes, into)
		b.received = b.received || b.buf.end > 0 // asked here: the buffer forgets interim answers
		switch {
		case err != nil || h.status >= 200:
			return h, err
		case h.status == 101:
			return h, garbage("the protocol was switched without a request")
		}
	}
	return head{}, garbage("too many interim responses")
}

// classifyFailure is what is known of a request that got no answer.
func (b *body) classifyFailure(err, sendErr error) failurePhase {
	switch {
	case b.received || timedOut(err): // after a timeout the answer may still be in the making
		return perhapsActed
	case sendErr != nil:
		return notActed
	}
	return noResponse
}

// attributeError finds what to report when there is no answer: the request's own body, the
// context, or the connection.
func (b *body) attributeError(err, sendErr error) error {
	if cause := b.up.sourceErr(); cause != nil && b.cn.ended.Load() == nil {
		return cause
	}
	return b.cn.failure(errors.Join(err, sendErr), noHead)
}
