package vectorstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/kernel/ident"
)

// DefaultTimeout is how long a call waits for a remote store.
const DefaultTimeout = 300 * time.Millisecond

// The breaker opens after maxFailures calls in a row that failed, for firstPause, and then for twice
// as long each time, up to maxPause. After each pause one call is tried.
const (
	maxFailures = 3
	firstPause  = time.Second
	maxPause    = 30 * time.Second
)

// ErrUnavailable is the error of calls that are not made, because the store failed before.
var ErrUnavailable = errors.New("vector store is unavailable; calls are paused")

// Limited is a Store that fails fast. Create one with Limit.
type Limited struct {
	store    Store
	timeout  time.Duration
	clock    ident.Clock
	failures atomic.Int64

	mu     sync.Mutex // guards the rest
	row    int        // failures in a row
	pause  time.Duration
	opened time.Time // start of the pause
	trying bool      // a call is made after the pause
}

var _ Store = (*Limited)(nil)

// Limit wraps a store: each call ends after the timeout, and after failures calls are paused. A
// timeout of zero selects DefaultTimeout.
func Limit(store Store, timeout time.Duration, clock ident.Clock) *Limited {
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	return &Limited{store: store, timeout: timeout, clock: clock}
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
	allowed, trial := l.allow()
	if !allowed {
		return ErrUnavailable
	}
	limited, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	err := call(limited)
	l.record(err, trial, ctx.Err() != nil)
	return err
}

// allow reports whether a call may be made, and whether it is the one after a pause.
func (l *Limited) allow() (allowed, trial bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.row < maxFailures {
		return true, false
	}
	if l.trying || l.clock.Now().Before(l.opened.Add(l.pause)) {
		return false, false
	}
	l.trying = true
	return true, true
}

// record counts the outcome of a call. Calls that began before a pause do not extend it.
func (l *Limited) record(err error, trial, callerLeft bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if trial {
		l.trying = false
	}
	if err == nil {
		l.row, l.pause = 0, 0
		return
	}
	if callerLeft {
		return
	}
	l.failures.Add(1)
	l.row++
	if l.row == maxFailures || trial {
		l.pause = min(max(firstPause, 2*l.pause), maxPause)
		l.opened = l.clock.Now()
	}
}
