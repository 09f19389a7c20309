package resource

import (
	"cmp"
	"maps"
	"sync"
	"time"

	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

const (
	ratePeriod = time.Minute
	// rateBurst is the divisor of the limit for calls at once: a fifth of the calls of a minute.
	rateBurst = 5
	// maxCallers limits the memory. Further callers are not counted: a full table must not become
	// an outage.
	maxCallers = 100_000
)

// Rate limits the calls of each caller. No minute has more than the limit, and all but a fifth
// of it is spread evenly. A caller that used the calls of a minute in one second would slow down
// all others in that second; and a caller over the limit does not wait for the rest of a minute.
// Rate counts only the calls at this node. A nil Rate has no limit. It is safe for concurrent
// use.
// Source: contract/identity-and-governance.md section 7, the last point.
type Rate struct {
	counted      string        // what is counted, for error texts: "administrative requests"
	limit, burst int           // calls in a minute, 0 for no limit, and calls at once
	every        time.Duration // interval between two calls after a burst

	mu    sync.Mutex // guards the fields below
	swept time.Time
	idle  map[string]time.Time // when each caller has a complete burst again; callers that have one are not listed
}

// NewRate returns a Rate of limit calls in a minute, 0 for no limit. counted names what is
// counted in error texts: "administrative requests".
func NewRate(limit int, counted string) *Rate {
	burst := max(1, limit/rateBurst)
	return &Rate{counted: counted, limit: limit, burst: burst, every: ratePeriod / time.Duration(max(1, limit-burst)), idle: make(map[string]time.Time)}
}

// Take counts one call. It returns fault.RateLimited, with the time until the next call may
// come, if the caller is over its limit.
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

// ratedBytes is how many bytes of a call count as one call.
const ratedBytes = 16 << 10

// Add counts the content of a call that Take admitted, beyond the one that Take counted: each
// entry, or each 16 KiB begun if these are more. The caller waits longer for its next call.
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

// sweep deletes, once a minute, the callers that have a complete burst again. Callers hold mu.
func (r *Rate) sweep(now time.Time) {
	if now.Sub(r.swept) < ratePeriod {
		return
	}
	r.swept = now
	maps.DeleteFunc(r.idle, func(_ string, idle time.Time) bool { return !idle.After(now) })
}

// seconds returns a duration in whole seconds, rounded up.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// checkRate counts a call. Administrative calls count for the key or the user, traffic counts
// for the workspace, whichever of its keys sends it.
func (e *Engine) checkRate(c *Call, p *access.Principal) error {
	r, caller := e.rateOf(c, p)
	return r.Take(caller, c.Now)
}

// countBody counts the content of a call.
func (e *Engine) countBody(c *Call, bytes int) {
	if c.op.Public {
		return
	}
	r, caller := e.rateOf(c, c.Principal)
	r.Add(caller, len(c.Items), bytes, c.Now)
}

// rateOf returns the Rate that counts a call, and the caller for it. A user who sends traffic
// names a workspace with each call and is counted as a user.
func (e *Engine) rateOf(c *Call, p *access.Principal) (*Rate, string) {
	if c.op.administrative() {
		return e.calls, string(p.Kind) + ":" + p.Actor()
	}
	return e.Ingest, cmp.Or(p.WorkspaceID, p.Actor())
}

// administrative reports whether an operation is not traffic. Traffic (feedback, custom logs,
// the rendering of prompts) is what an Admin key may never send.
func (op *Operation) administrative() bool {
	for _, s := range op.Scopes {
		if may, known := access.MayHold(access.OrganisationService, string(s)); may || !known {
			return true
		}
	}
	return len(op.Scopes) == 0
}
