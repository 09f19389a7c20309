package resource

import (
	"cmp"
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

// Rate bounds what each caller does: in no minute is there more than the limit, and all
// but a fifth of it at an even pace. A pace, because a caller that may spend a minute's
// calls in one second is felt by all others in that second; and nobody who went too far is
// kept waiting for the rest of a minute. It knows what happens at this node. A nil Rate has no
// limit. Safe for concurrent use.
// Source: contract/identity-and-governance.md section 7, the last point.
type Rate struct {
	counted      string        // what is counted, for the refusal: "administrative requests"
	limit, burst int           // in a minute, 0 for no limit, and at once
	every        time.Duration // between two behind a burst

	mu    sync.Mutex // guards what follows
	swept time.Time
	idle  map[string]time.Time // when each caller has a whole burst again; callers who do are not there
}

// NewRate makes one of limit a minute, 0 for no limit. Of names what is counted, as its
// refusals call it: "administrative requests".
func NewRate(limit int, counted string) *Rate {
	burst := max(1, limit/rateBurst)
	return &Rate{counted: counted, limit: limit, burst: burst, every: ratePeriod / time.Duration(max(1, limit-burst)), idle: make(map[string]time.Time)}
}

// Take counts one: fault.RateLimited, with the time until the next may come, when the
// caller has gone too far.
func (r *Rate) Take(caller string, now time.Time) error {
	if r == nil || r.limit == 0 {
		return nil
	}
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
		return fault.Newf(fault.RateLimited, "rate limit exceeded: %d %s per minute, %d at once; retry in %d seconds",
			r.limit, r.counted, r.burst, seconds(wait)).WithRetry(wait)
	case known || len(r.idle) < maxCallers:
		r.idle[caller] = idle.Add(r.every)
	}
	return nil
}

// ratedBytes is how much of a call counts as one.
const ratedBytes = 16 << 10

// Add counts what a call that Take let in turned out to hold beyond the one that Take
// counted: each of its entries, or each beginning 16 KiB of its bytes where these are more.
// The caller waits the longer for the next.
func (r *Rate) Add(caller string, entries, bytes int, now time.Time) {
	n := max(entries, (bytes+ratedBytes-1)/ratedBytes) - 1
	if r == nil || r.limit == 0 || n < 1 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	idle, known := r.idle[caller]
	if idle.Before(now) {
		idle = now
	}
	if known || len(r.idle) < maxCallers {
		r.idle[caller] = idle.Add(time.Duration(n) * r.every)
	}
}

// sweep forgets, once a minute, who has a whole burst again. Callers hold mu.
func (r *Rate) sweep(now time.Time) {
	if now.Sub(r.swept) < ratePeriod {
		return
	}
	r.swept = now
	maps.DeleteFunc(r.idle, func(_ string, idle time.Time) bool { return !idle.After(now) })
}

// seconds is a time in whole seconds, none of it lost.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// checkRate counts a call for who makes it: one of the administration for the key or the person,
// traffic for the workspace, whichever of its keys sends it.
func (e *Engine) checkRate(c *Call, p *access.Principal) error {
	r, caller := e.rateOf(c, p)
	return r.Take(caller, c.Now)
}

// countBody counts what a call turned out to hold.
func (e *Engine) countBody(c *Call, bytes int) {
	if c.op.Public {
		return
	}
	r, caller := e.rateOf(c, c.Principal)
	r.Add(caller, len(c.Items), bytes, c.Now)
}

// rateOf is where a call counts, and for whom. A person who sends traffic names a workspace
// with each call, and is counted as one.
func (e *Engine) rateOf(c *Call, p *access.Principal) (*Rate, string) {
	if c.op.administrative() {
		return e.calls, string(p.Kind) + ":" + p.Actor()
	}
	return e.Ingest, cmp.Or(p.WorkspaceID, p.Actor())
}

// administrative reports whether an operation is no traffic (feedback, custom logs, the
// rendering of prompts), which an Admin key may never send.
func (op *Operation) administrative() bool {
	for _, s := range op.Scopes {
		if may, known := access.MayHold(access.OrganisationService, string(s)); may || !known {
			return true
		}
	}
	return len(op.Scopes) == 0
}
