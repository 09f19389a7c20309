package resource

import (
	"sync"
	"time"

	"sluice/internal/access"
	"sluice/internal/fault"
)

const (
	rateWindow = time.Minute
	// maxCallers bounds the memory of a window. Callers beyond it are not counted: a
	// limit that has no room must not become an outage.
	maxCallers = 100_000
)

// rate counts the calls of each caller in fixed windows that begin with the minute. It
// knows the calls at this node. Safe for concurrent use.
// Source: contract/identity-and-governance.md section 7, the last point.
type rate struct {
	limit int // calls in a window; 0 for no limit

	mu    sync.Mutex // guards what follows
	began time.Time  // of the window
	calls map[string]int
}

func newRate(limit int) *rate { return &rate{limit: limit, calls: make(map[string]int)} }

// take counts a call: fault.RateLimited, with the time until the window ends, when the
// caller has used it up.
func (r *rate) take(p *access.Principal, now time.Time) error {
	if r.limit == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if window := now.Truncate(rateWindow); !window.Equal(r.began) {
		r.began = window
		clear(r.calls)
	}
	caller := string(p.Kind) + ":" + p.Actor()
	n, known := r.calls[caller]
	switch {
	case n >= r.limit:
		wait := r.began.Add(rateWindow).Sub(now)
		return fault.Newf(fault.RateLimited, "more than %d administrative requests in a minute; try again in %d seconds", r.limit, seconds(wait)).WithRetry(wait)
	case known || len(r.calls) < maxCallers:
		r.calls[caller] = n + 1
	}
	return nil
}

// seconds is a time in whole seconds, none of it lost.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// administrative reports whether calls of an operation count: those do not that an Admin
// key may never make, because they are traffic (feedback, custom logs, the rendering of
// prompts), which has limits of its own.
func (op *Operation) administrative() bool {
	for _, s := range op.Scopes {
		if may, known := access.MayHold(access.OrganisationService, string(s)); may || !known {
			return true
		}
	}
	return len(op.Scopes) == 0
}
