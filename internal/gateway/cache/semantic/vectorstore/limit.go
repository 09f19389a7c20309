package vectorstore

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"sluice/internal/kernel/circuit"
	"sluice/internal/kernel/ident"
)

// DefaultTimeout is how long a call waits for a remote store.
const DefaultTimeout = 300 * time.Millisecond

// pausing is when calls to a remote store are paused.
var pausing = circuit.Policy{Failures: 3, FirstPause: time.Second, MaxPause: 30 * time.Second}

// ErrUnavailable is the error of calls that are not made, because the store failed before.
var ErrUnavailable = errors.New("vector store is unavailable; calls are paused")

// Limited is a Store that fails fast. Create one with Limit.
type Limited struct {
	store    Store
	timeout  time.Duration
	clock    ident.Clock
	failures atomic.Int64
	breaker  circuit.Breaker
}

var _ Store = (*Limited)(nil)

// Limit wraps a store: each call ends after the timeout, and after failures calls are paused. A
// timeout of zero selects DefaultTimeout.
func Limit(store Store, timeout time.Duration, clock ident.Clock) *Limited {
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	return &Limited{store: store, timeout: timeout, clock: clock, breaker: circuit.Breaker{Policy: pausing}}
}

// Failures returns how many calls failed since the start, paused ones not included.
func (l *Limited) Failures() int64 { return l.failures.Load() }

// Search implements Store.
func (l *Limited) Search(ctx context.Context, s Search) (found []Match, err error) {
	err = l.run(ctx, func(ctx context.Context) error {
		found, err = l.store.Search(ctx, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Put implements Store.
func (l *Limited) Put(ctx context.Context, e Entry) error {
	if err := e.Check(); err != nil {
		return err
	}
	return l.run(ctx, func(ctx context.Context) error { return l.store.Put(ctx, e) })
}

// Delete implements Store.
func (l *Limited) Delete(ctx context.Context, keys ...Key) error {
	return l.run(ctx, func(ctx context.Context) error { return l.store.Delete(ctx, keys...) })
}

// Purge implements Store. It is not paused: an administrator requested it.
func (l *Limited) Purge(ctx context.Context) error { return l.store.Purge(ctx) }

// run makes a call with the timeout. The end of the caller's context is not a failure of the store.
func (l *Limited) run(ctx context.Context, call func(context.Context) error) error {
	permit := l.breaker.Acquire(l.clock.Now())
	if permit == circuit.Denied {
		return ErrUnavailable
	}
	limited, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	err := call(limited)
	outcome := circuit.Succeeded
	switch {
	case err != nil && ctx.Err() != nil:
		outcome = circuit.Unknown
	case err != nil:
		outcome = circuit.Failed
		l.failures.Add(1)
	}
	l.breaker.Record(l.clock.Now(), permit, outcome)
	return err
}
