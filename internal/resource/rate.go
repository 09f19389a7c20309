package resource

import (
	"maps"
	"sync"
	"time"

	"sluice/internal/access"
	"sluice/internal/fault"
)

const (
	ratePeriod = time.Minute
	// rateBurst is which part of the calls of a minute may come at once.
	rateBurst = 5
	// maxCallers bounds the memory. Callers beyond it are not counted: a limit that has no
	// room must not become an outage.
	maxCallers = 100_000
)

// rate bounds the calls of each caller: in no minute are there more than the limit, and all
// but a fifth of them at an even pace. A pace, because a caller that may spend a minute's
// calls in one second is felt by all others in that second; and nobody who went too far is
// kept waiting for the rest of a minute. It knows the calls at this node. Safe for
// concurrent use.
// Source: contract/identity-and-governance.md section 7, the last point.
type rate struct {
	limit, burst int           // calls in a minute, 0 for no limit, and at once
	every        time.Duration // between two calls behind a burst

	mu    sync.Mutex // guards what follows
	swept time.Time
	idle  map[string]time.Time // when each caller has a whole burst again; callers who do are not there
}

func newRate(limit int) *rate {
	burst := max(1, limit/rateBurst)
	return &rate{limit: limit, burst: burst, every: ratePeriod / time.Duration(max(1, limit-burst)), idle: make(map[string]time.Time)}
}

// take counts a call: fault.RateLimited, with the time until the next may come, when the
// caller has gone too far.
func (r *rate) take(p *access.Principal, now time.Time) error {
	if r.limit == 0 {
		return nil
	}
	caller := string(p.Kind) + ":" + p.Actor()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep(now)
	idle, known := r.idle[caller]
	if idle.Before(now) {
		idle = now
	}
	wait := idle.Sub(now) - time.Duration(r.burst-1)*r.every
	switch {
	case wait > 0:
		return fault.Newf(fault.RateLimited, "more than %d administrative requests a minute, or %d at once; try again in %d seconds",
			r.limit, r.burst, seconds(wait)).WithRetry(wait)
	case known || len(r.idle) < maxCallers:
		r.idle[caller] = idle.Add(r.every)
	}
	return nil
}

// sweep forgets, once a minute, who has a whole burst again. Callers hold mu.
func (r *rate) sweep(now time.Time) {
	if now.Sub(r.swept) < ratePeriod {
		return
	}
	r.swept = now
	maps.DeleteFunc(r.idle, func(_ string, idle time.Time) bool { return !idle.After(now) })
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
