package dataplane

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Abandoned says what becomes of a provider's stream when its caller leaves: it is
// cancelled at once, or read on within bounds, so that the usage that the provider reports
// at its end is known. The zero value cancels. Source: docs/money.md.
type Abandoned struct {
	Streams int           // that are read on at once; further ones are cancelled. 0: all are cancelled
	Bytes   int64         // read of one after its caller left
	Time    time.Duration // that one may take from then on
}

// AbandonedAnswers says what becomes of a whole answer when its caller leaves or a time limit
// of the gateway passes: it is read to its end within bounds, so that the usage in it is known.
// The zero value cancels each, and it counts at its maximum cost. Source: docs/money.md.
type AbandonedAnswers struct {
	Max   int           // that are read at once; further ones are cancelled. 0: all are cancelled
	Bytes int64         // read of one after it was given up
	Time  time.Duration // that one may take from then on
}

// limits are the bounds of reading on, of streams or of whole answers.
type limits struct {
	max   int
	bytes int64
	time  time.Duration
}

// errLeft is what ends the reading on of a stream.
var errLeft = errors.New("the client disconnected")

// detachedStreams are the streams, or the whole answers, that are read on. Safe for concurrent use.
type detachedStreams struct {
	mu     sync.Mutex // guards what follows
	calls  map[*detachedCall]struct{}
	closed bool
}

// acquire takes a place for o, of most; false when there is none.
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

// Abandoned is the number of streams that are read on although their callers left.
func (g *Gateway) Abandoned() int {
	g.lingering.mu.Lock()
	defer g.lingering.mu.Unlock()
	return len(g.lingering.calls)
}

// AbandonedAnswers is the number of whole answers that are read on although nobody waits for
// them any more.
func (g *Gateway) AbandonedAnswers() int {
	g.answersLeft.mu.Lock()
	defer g.answersLeft.mu.Unlock()
	return len(g.answersLeft.calls)
}

// CancelAbandoned cancels the streams and answers that are read on although their callers left,
// and from now on each at once whose caller leaves: for a gateway that stops. Their records
// are written by the goroutines that read them.
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

// detachedCall is a call of a provider that may outlast the stay of its caller. Its context
// ends with the caller's unless its answer is whole, or a stream has begun, and it may be read
// on. Nil is a call that never does. Methods may be called by several goroutines.
type detachedCall struct {
	calls  *detachedStreams
	limits limits
	cancel context.CancelFunc
	unhook func() bool

	mu    sync.Mutex // guards what follows
	phase phase
	bytes int64 // read since the caller left
	timer *time.Timer
}

// phase is how far an outliving call has come.
type phase uint8

const (
	awaited    phase = iota // no stream has begun: the call ends with its caller
	streamed                // a stream has begun or the answer is whole, and the caller is there
	isDetached              // the caller left, and the answer is read on
	ended
)

// detach makes the context of a call of a provider whose answer does not come at once.
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

// isBuffered reports whether the call is one of a whole answer.
func (o *detachedCall) isBuffered(g *Gateway) bool { return o != nil && o.calls == &g.answersLeft }

// detach has the call go on without its caller, who does not wait any longer for the answer;
// false where it may not be read on.
func (o *detachedCall) detach() bool {
	if o == nil {
		return false
	}
	o.unhook()
	return o.left()
}

// begin notes that a stream is in hand, whose end may bring a usage. One that was taken for a
// whole answer, because the request does not say, has the bounds of streams from now on.
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

// left notes that the caller left, and reports whether the stream is read on.
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

// isDetached reports whether the caller left and the stream is read on.
func (o *detachedCall) isDetached() bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.phase == isDetached
}

// took counts what was read of a stream that is read on; its error is that this was
// enough.
func (o *detachedCall) took(n int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.bytes += int64(n); o.bytes >= o.limits.bytes {
		return errLeft
	}
	return nil
}

// release ends the call's context and gives its place back. The body must have been
// closed or read to its end.
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
