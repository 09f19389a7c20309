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

// errLeft is what ends the reading on of a stream.
var errLeft = errors.New("the caller left")

// lingering are the streams that are read on. Safe for concurrent use.
type lingering struct {
	mu     sync.Mutex // guards what follows
	calls  map[*outliving]struct{}
	closed bool
}

// enter takes a place for o, of most; false when there is none.
func (l *lingering) enter(o *outliving, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.calls) >= most {
		return false
	}
	if l.calls == nil {
		l.calls = make(map[*outliving]struct{})
	}
	l.calls[o] = struct{}{}
	return true
}

func (l *lingering) leave(o *outliving) {
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

// CancelAbandoned cancels the streams that are read on although their callers left, and
// from now on each at once whose caller leaves: for a gateway that stops. Their records
// are written by the goroutines that serve them.
func (g *Gateway) CancelAbandoned() {
	l := &g.lingering
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for o := range l.calls {
		o.cancel()
	}
}

// outliving is a call of a provider that may outlast the stay of its caller. Its context
// ends with the caller's unless a stream has begun and there is a place to read it on. Nil
// is a call that never does. Methods may be called by several goroutines.
type outliving struct {
	g      *Gateway
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
	awaited  phase = iota // no stream has begun: the call ends with its caller
	streamed              // the caller listens
	lingers               // the caller left, and the stream is read on
	ended
)

// outlive makes the context of a call of a provider.
func (g *Gateway) outlive(ctx context.Context, a *attempt) context.Context {
	a.outlives.release()
	a.outlives = nil
	if g.set.Abandoned.Streams == 0 {
		return ctx
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	o := &outliving{g: g, cancel: cancel}
	o.unhook = context.AfterFunc(ctx, func() { o.left() })
	a.outlives = o
	return own
}

// begin notes that a stream is in hand, whose end may bring a usage.
func (o *outliving) begin() {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.phase == awaited {
		o.phase = streamed
	}
}

// left notes that the caller left, and reports whether the stream is read on.
func (o *outliving) left() bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.phase == streamed && o.g.lingering.enter(o, o.g.set.Abandoned.Streams):
		o.phase = lingers
		o.timer = time.AfterFunc(o.g.set.Abandoned.Time, o.cancel)
	case o.phase < lingers:
		o.phase = ended
		o.cancel()
	}
	return o.phase == lingers
}

// lingers reports whether the caller left and the stream is read on.
func (o *outliving) lingers() bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.phase == lingers
}

// took counts what was read of a stream that is read on; its error is that this was
// enough.
func (o *outliving) took(n int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.bytes += int64(n); o.bytes >= o.g.set.Abandoned.Bytes {
		return errLeft
	}
	return nil
}

// release ends the call's context and gives its place back. The body must have been
// closed or read to its end.
func (o *outliving) release() {
	if o == nil {
		return
	}
	o.unhook()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.phase == lingers {
		o.timer.Stop()
		o.g.lingering.leave(o)
	}
	o.phase = ended
	o.cancel()
}
