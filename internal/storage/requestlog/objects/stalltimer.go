package objects

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// stallTimer ends a call if no data moves for a time. A limit for the complete call would end
// those of large objects on a slow line again and again: a record may have 80 MB of bodies, and
// sixteen objects at once share the line. It belongs to one call.
type stallTimer struct {
	limit   time.Duration
	timer   *time.Timer
	cancel  context.CancelFunc
	stalled atomic.Bool
}

// newStallTimer starts a call, whose context ends with ctx or when the call stalls. The caller
// must call end.
func newStallTimer(ctx context.Context, limit time.Duration) (context.Context, *stallTimer) {
	ctx, cancel := context.WithCancel(ctx)
	p := &stallTimer{limit: limit, cancel: cancel}
	p.timer = time.AfterFunc(limit, func() {
		p.stalled.Store(true)
		cancel()
	})
	return ctx, p
}

// end ends the call, and returns its error: context.DeadlineExceeded for one that stalled.
func (p *stallTimer) end(err error) error {
	p.timer.Stop()
	p.cancel()
	if err != nil && p.stalled.Load() {
		return fmt.Errorf("no progress for %s: %w", p.limit, context.DeadlineExceeded)
	}
	return err
}

// reset records that data moved. It has no effect on a call that has stalled.
func (p *stallTimer) reset(n int) {
	if n > 0 && p.timer.Stop() {
		p.timer.Reset(p.limit)
	}
}

// upload is an object being sent.
type upload struct {
	*bytes.Reader
	stallTimer *stallTimer
}

func (u upload) Read(to []byte) (int, error) {
	n, err := u.Reader.Read(to)
	u.stallTimer.reset(n)
	return n, err
}

// WriteTo replaces the method of bytes.Reader, which would count all bytes as sent at once.
func (u upload) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{u})
}

// download is an object being received.
type download struct {
	io.Reader
	stallTimer *stallTimer
}

func (d download) Read(to []byte) (int, error) {
	n, err := d.Reader.Read(to)
	d.stallTimer.reset(n)
	return n, err
}
