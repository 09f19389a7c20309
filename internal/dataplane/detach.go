package dataplane

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Abandoned configures what happens to a provider's stream when its client disconnects. It is
// cancelled at once or read to its end within limits, so that the usage at its end is known. The
// zero value cancels. Source: docs/money.md.
type Abandoned struct {
	Streams int           // maximum read at once; further ones are cancelled. 0: all are cancelled
	Bytes   int64         // maximum read of one after its client disconnected
	Time    time.Duration // maximum time for one from then on
}

// AbandonedAnswers configures what happens to a buffered response when its client disconnects or
// a timeout of the gateway passes. It is read to its end within limits, so that its usage is
// known. The zero value cancels each one, and it is charged its maximum cost. Source:
// docs/money.md.
type AbandonedAnswers struct {
	Max   int           // maximum read at once; further ones are cancelled. 0: all are cancelled
	Bytes int64         // maximum read of one after it was abandoned
	Time  time.Duration // maximum time for one from then on
}

// limits are the limits for abandoned streams or buffered responses.
type limits struct {
	max   int
	bytes int64
	time  time.Duration
}

// errLeft ends the reading of an abandoned stream.
var errLeft = errors.New("the client disconnected")

// detachedStreams is the set of abandoned streams, or of buffered responses, that are still read.
// Safe for concurrent use.
type detachedStreams struct {
	mu     sync.Mutex // guards what follows
	calls  map[*detachedCall]struct{}
	closed bool
}

// acquire adds o to the set. It returns false if the set is closed or has maxCalls calls.
func (l *detachedStreams) acquire(o *detachedCall, maxCalls int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.calls) >= maxCalls {
		return false
	}
	if l.calls == nil {
		l.calls = make(map[*detachedCall]struct{})
	}
	l.calls[o] = struct{}{}
	return true
}

func (l *detachedStreams) release(o *detachedCall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.calls, o)
}

// Abandoned returns the number of streams that are still read after their clients disconnected.
func (g *Gateway) Abandoned() int {
	g.lingering.mu.Lock()
	defer g.lingering.mu.Unlock()
	return len(g.lingering.calls)
}

// AbandonedAnswers returns the number of buffered responses that are still read after they were
// abandoned.
func (g *Gateway) AbandonedAnswers() int {
	g.answersLeft.mu.Lock()
	defer g.answersLeft.mu.Unlock()
	return len(g.answersLeft.calls)
}

// CancelAbandoned cancels all abandoned streams and responses and, from now on, each one at once
// when its client disconnects. It is for a gateway that stops. The goroutines that read them
// write their records.
func (g *Gateway) CancelAbandoned() {
	g.lingering.cancel()
	g.answersLeft.cancel()
}

func (l *detachedStreams) cancel() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for o := range l.calls {
		o.cancel()
	}
}

// detachedCall is a provider call that may outlive its client. Its context ends with the
// client's, unless its response is buffered or its stream has begun, and the limits permit
// further reading. A nil detachedCall never outlives its client. Safe for concurrent use.
type detachedCall struct {
	calls  *detachedStreams
	limits limits
	cancel context.CancelFunc
	unhook func() bool

	mu    sync.Mutex // guards what follows
	phase phase
	bytes int64 // read since the client disconnected
	timer *time.Timer
}

// phase is the progress of a detached call.
type phase uint8

const (
	awaited    phase = iota // a stream has not begun: the call ends with its client
	streamed                // a stream has begun or the response is buffered, and the client is connected
	isDetached              // the client disconnected, and the response is still read
	ended
)

// detach returns the context for a provider call. If the limits permit it, the call may outlive
// ctx.
func (g *Gateway) detach(ctx context.Context, a *attempt) context.Context {
	a.outlives.release()
	a.outlives = nil
	o := &detachedCall{calls: &g.lingering, limits: limits{g.set.Abandoned.Streams, g.set.Abandoned.Bytes, g.set.Abandoned.Time}}
	if !a.wantsStream() && a.reservation.reserved() {
		w := &g.set.AbandonedAnswers
		o.calls, o.limits, o.phase = &g.answersLeft, limits{w.Max, w.Bytes, w.Time}, streamed
	}
	if o.limits.max == 0 {
		return ctx
	}
	detachedCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	o.cancel = cancel
	o.unhook = context.AfterFunc(ctx, func() { o.left() })
	a.outlives = o
	return detachedCtx
}

// isBuffered reports whether the call has a buffered response.
func (o *detachedCall) isBuffered(g *Gateway) bool { return o != nil && o.calls == &g.answersLeft }

// detach separates the call from its client, which does not wait for the response any longer. It
// returns false if the response may not be read further.
func (o *detachedCall) detach() bool {
	if o == nil {
		return false
	}
	o.unhook()
	return o.left()
}

// begin records that a stream has begun, whose end may contain usage. If the call was treated as
// buffered, because the request does not show that it streams, the limits of streams apply from
// now on.
func (o *detachedCall) begin(g *Gateway) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.phase >= isDetached:
	case o.calls == &g.lingering:
		o.phase = streamed
	default:
		o.calls, o.limits = &g.lingering, limits{g.set.Abandoned.Streams, g.set.Abandoned.Bytes, g.set.Abandoned.Time}
		if o.limits.max == 0 {
			o.phase = awaited
		}
	}
}

// left handles the disconnect of the client. It reports whether the response is still read.
func (o *detachedCall) left() bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.phase == streamed && o.calls.acquire(o, o.limits.max):
		o.phase = isDetached
		o.timer = time.AfterFunc(o.limits.time, o.cancel)
	case o.phase < isDetached:
		o.phase = ended
		o.cancel()
	}
	return o.phase == isDetached
}

// isDetached reports whether the client disconnected and the response is still read.
func (o *detachedCall) isDetached() bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.phase == isDetached
}

// took counts the bytes read of an abandoned stream. It returns errLeft when the limit is
// reached.
func (o *detachedCall) took(n int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.bytes += int64(n); o.bytes >= o.limits.bytes {
		return errLeft
	}
	return nil
}

// release ends the call's context and removes it from the set. The body must be closed or read to
// its end before.
func (o *detachedCall) release() {
	if o == nil {
		return
	}
	o.unhook()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.phase == isDetached {
		o.timer.Stop()
		o.calls.release(o)
	}
	o.phase = ended
	o.cancel()
}
