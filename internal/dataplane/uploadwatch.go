package dataplane

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/fault"
	"sluice/internal/wire"
)

// errNotTaken is the end of a call whose provider takes no more of a body.
var errNotTaken = errors.New("the provider stopped reading the body")

// limitedBody is a body that is sent as it comes. It refuses what is longer than such a body
// may be, and while watched, ends a call whose provider does not come for more of it:
// nobody reads from the client meanwhile, nor notices that he left.
type limitedBody struct {
	r    io.Reader
	left int64
	sent atomic.Int64 // of it, in bytes: also asked for by who does not read

	mu    sync.Mutex // guards what follows
	idle  time.Duration
	timer *time.Timer // nil while unwatched
	done  bool        // there is nothing more to come for
}

// sent is how many bytes of a body that is sent as it comes were taken so far.
func (x *exchange) sent() int64 {
	if x.passes == nil {
		return 0
	}
	return x.passes.sent.Load()
}

// Read implements io.Reader.
func (b *limitedBody) Read(p []byte) (int, error) {
	b.wait(false)
	n, err := b.r.Read(p)
	b.sent.Add(int64(n))
	if b.left -= int64(n); b.left < 0 {
		err = wire.ErrTooLarge
	}
	if err == nil {
		b.wait(true)
		return n, nil
	}
	b.unwatch()
	if b.left < 0 {
		return 0, err
	}
	return n, err
}

// wait begins the time that the provider has to come for more, or ends it: it is the
// client who is waited for then.
func (b *limitedBody) wait(begin bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.timer == nil:
	case begin:
		b.timer.Reset(b.idle)
	default:
		b.timer.Stop()
	}
}

// watch calls late when the provider does not come for more within a time.
func (b *limitedBody) watch(idle time.Duration, late func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.done {
		b.idle, b.timer = idle, time.AfterFunc(idle, late)
	}
}

// unwatch ends that.
func (b *limitedBody) unwatch() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = true
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
}

// cancelOnStalledUpload is the context of a call that ends when its provider stops taking the body
// before it answers. Answered says that the call has come back, and with what error.
func (g *Gateway) cancelOnStalledUpload(ctx context.Context, a *attempt) (uploadCtx context.Context, answered func(error) error) {
	b := a.x.passes
	if b == nil || a.body.Replayable() || g.set.IdleTimeout <= 0 {
		return ctx, func(err error) error { return err }
	}
	uploadCtx, cancel := context.WithCancelCause(ctx)
	a.cancelUpload = cancel
	b.watch(g.set.IdleTimeout, func() { cancel(errNotTaken) })
	return uploadCtx, func(err error) error {
		b.unwatch()
		if err != nil && errors.Is(context.Cause(uploadCtx), errNotTaken) {
			return fault.Wrap(fault.UpstreamTimeout, errNotTaken)
		}
		return err
	}
}
