package lease_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/kernel/lease"
)

// scriptedStore answers each attempt to take a lease as its script says; the last answer stays.
type scriptedStore struct {
	script []takeResult
	calls  int
}

type takeResult struct {
	acquired bool
	err      error
	slow     time.Duration // before it comes, unless the one who asks gives up
}

var errUnavailable = errors.New("the database is away")

func (b *scriptedStore) TakeLease(ctx context.Context, _, _ string, _ time.Duration) (bool, error) {
	a := b.script[min(b.calls, len(b.script)-1)]
	b.calls++
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(a.slow):
	}
	return a.acquired, a.err
}

func (b *scriptedStore) ReleaseLease(context.Context, string, string) error { return nil }

func TestKeep(t *testing.T) {
	t.Parallel()
	const ttl = 20 * time.Second
	granted, theirs, failed := takeResult{acquired: true}, takeResult{}, takeResult{err: errUnavailable}
	for name, c := range map[string]struct {
		script    []takeResult
		endsAfter time.Duration // after which the context ends; 0 when it does not
	}{
		"it stays":                             {[]takeResult{granted}, 0},
		"another has it":                       {[]takeResult{granted, theirs}, 2 * ttl / 4},
		"the database is away for a moment":    {[]takeResult{granted, failed, granted}, 0},
		"the database is away for good":        {[]takeResult{failed}, 3 * ttl / 4},
		"the database is away after a renewal": {[]takeResult{granted, failed}, 4 * ttl / 4},
		"the database does not answer":         {[]takeResult{{acquired: true, slow: time.Hour}}, 3 * ttl / 4},
		"the database is slow":                 {[]takeResult{{acquired: true, slow: ttl / 5}}, 0},
		"it is away after a slow renewal":      {[]takeResult{{acquired: true, slow: ttl / 5}, failed}, 4 * ttl / 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := &scriptedStore{script: c.script}
				began := time.Now()
				held, stop := lease.Hold(t.Context(), b, "work", "me", ttl)
				select {
				case <-held.Done():
					if got := time.Since(began); got != c.endsAfter || !errors.Is(context.Cause(held), lease.ErrNotHolder) {
						t.Errorf("ended after %v by %v, want ErrLost after %v", got, context.Cause(held), c.endsAfter)
					}
				case <-time.After(10 * ttl):
					if c.endsAfter > 0 {
						t.Errorf("still held, want it lost after %v", c.endsAfter)
					}
				}
				stop()
				calls := b.calls
				if held.Err() == nil {
					t.Error("the context goes on after stop")
				}
				time.Sleep(ttl)
				if b.calls != calls {
					t.Error("renewed after stop")
				}
			})
		})
	}
}
