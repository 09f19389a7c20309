package lease_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/lease"
)

// book answers each attempt to take a lease as its script says; the last answer stays.
type book struct {
	script []answer
	asked  int
}

type answer struct {
	mine bool
	err  error
	slow time.Duration // before it comes, unless the one who asks gives up
}

var errAway = errors.New("the database is away")

func (b *book) TakeLease(ctx context.Context, _, _ string, _ time.Duration) (bool, error) {
	a := b.script[min(b.asked, len(b.script)-1)]
	b.asked++
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(a.slow):
	}
	return a.mine, a.err
}

func (b *book) ReleaseLease(context.Context, string, string) error { return nil }

func TestKeep(t *testing.T) {
	t.Parallel()
	const ttl = 20 * time.Second
	mine, theirs, away := answer{mine: true}, answer{}, answer{err: errAway}
	for name, c := range map[string]struct {
		script []answer
		lost   time.Duration // after which the context ends; 0 when it does not
	}{
		"it stays":                             {[]answer{mine}, 0},
		"another has it":                       {[]answer{mine, theirs}, 2 * ttl / 4},
		"the database is away for a moment":    {[]answer{mine, away, mine}, 0},
		"the database is away for good":        {[]answer{away}, 3 * ttl / 4},
		"the database is away after a renewal": {[]answer{mine, away}, 4 * ttl / 4},
		"the database does not answer":         {[]answer{{mine: true, slow: time.Hour}}, 3 * ttl / 4},
		"the database is slow":                 {[]answer{{mine: true, slow: ttl / 5}}, 0},
		"it is away after a slow renewal":      {[]answer{{mine: true, slow: ttl / 5}, away}, 4 * ttl / 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := &book{script: c.script}
				began := time.Now()
				held, stop := lease.Keep(t.Context(), b, "work", "me", ttl)
				select {
				case <-held.Done():
					if got := time.Since(began); got != c.lost || !errors.Is(context.Cause(held), lease.ErrLost) {
						t.Errorf("ended after %v by %v, want ErrLost after %v", got, context.Cause(held), c.lost)
					}
				case <-time.After(10 * ttl):
					if c.lost > 0 {
						t.Errorf("still held, want it lost after %v", c.lost)
					}
				}
				stop()
				asked := b.asked
				if held.Err() == nil {
					t.Error("the context goes on after stop")
				}
				time.Sleep(ttl)
				if b.asked != asked {
					t.Error("renewed after stop")
				}
			})
		})
	}
}
