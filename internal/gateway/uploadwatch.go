package gateway

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
)

// errNotTaken is the error of a call whose provider stops reading the body.
var errNotTaken = errors.New("the provider stopped reading the body")

// limitedBody is a body that is sent as it arrives. It refuses more than the maximum size. While
// watched, it ends a call whose provider stops reading: meanwhile nothing reads from the client,
// so a disconnect goes unnoticed.
type limitedBody struct {
	r    io.Reader
	left int64
	sent atomic.Int64 // bytes sent; also read by other goroutines

	mu    sync.Mutex // guards the fields below
	idle  time.Duration
	timer *time.Timer // nil while not watched
	done  bool        // the body has ended
}

// sent returns the number of bytes read so far from a body that is sent as it arrives.
func (b *requestBody) sent() int64 {
	if b.passes == nil {
		return 0
	}
	return b.passes.sent.Load()
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

// wait starts the provider's read timeout, or stops it while the gateway waits for the client.
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

// watch calls late when the provider does not read more within idle.
func (b *limitedBody) watch(idle time.Duration, late func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.done {
		b.idle, b.timer = idle, time.AfterFunc(idle, late)
	}
}

// unwatch stops the watch.
func (b *limitedBody) unwatch() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = true
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
}

// cancelOnStalledUpload returns a context that ends when the provider stops reading the body
// before it responds. The caller must call answered with the error of the call.
func (u *upstreamCaller) cancelOnStalledUpload(ctx context.Context, a *attempt) (uploadCtx context.Context, answered func(error) error) {
	b := a.x.passes
	if b == nil || a.body.Replayable() || u.idleTimeout <= 0 {
		return ctx, func(err error) error { return err }
	}
	uploadCtx, cancel := context.WithCancelCause(ctx)
	a.cancelUpload = cancel
	b.watch(u.idleTimeout, func() { cancel(errNotTaken) })
	return uploadCtx, func(err error) error {
		b.unwatch()
		if err != nil && errors.Is(context.Cause(uploadCtx), errNotTaken) {
			return fault.Wrap(fault.UpstreamTimeout, errNotTaken)
		}
		return err
	}
}
