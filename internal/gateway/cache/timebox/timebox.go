// Package timebox runs functions that may block for a limited time only, such as reads of a disk
// or of a server that hangs. The caller continues when the time is over; the function ends in the
// background. Start with Box and Run.
package timebox

import (
	"context"
	"errors"
	"sync"
	"time"
)

// These are the errors of Run itself.
var (
	ErrSlow = errors.New("no response within the time limit")
	ErrBusy = errors.New("too many operations are in progress")
)

// Box bounds the functions that run at the same time, so that those that hang do not collect.
// It is safe for concurrent use. Create one with New.
type Box struct {
	slots   chan struct{}
	running sync.WaitGroup
}

// New returns a box for at most n functions at a time.
func New(n int) *Box { return &Box{slots: make(chan struct{}, n)} }

// Run calls fn in a goroutine and returns its result. It returns ErrBusy at once if the box is
// full, ErrSlow after the limit, and the error of ctx when that ends. fn then continues, and its
// result is ignored.
func Run[T any](ctx context.Context, b *Box, limit time.Duration, fn func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	select {
	case b.slots <- struct{}{}:
	default:
		return none, ErrBusy
	}
	done := make(chan result, 1)
	b.running.Go(func() {
		value, err := fn()
		<-b.slots
		done <- result{value, err}
	})
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.value, r.err
	case <-timer.C:
		return none, ErrSlow
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// Wait waits for all functions that still run. No Run may start meanwhile.
func (b *Box) Wait() { b.running.Wait() }
