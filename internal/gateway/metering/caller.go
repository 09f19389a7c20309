package metering

import (
	"context"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
)

// Caller is the limits of a caller's API key and workspace, for one request. The zero value, and
// nil, apply no limits: the request is not metered. A Caller belongs to the goroutine of its
// request.
type Caller struct {
	metered        bool
	key, workspace *quota.Plan
	stage          limitStage
	limits         []quota.Hold // all limits of the caller, with amount 0
	held           []quota.Hold // those that are taken
	both           []quota.Hold // of the caller and an attempt, checked together
}

// limitStage is how far the caller's limits have been checked.
type limitStage uint8

const (
	entered limitStage = iota // the caller's holds are taken, or there are none
	waiting                   // they are checked together with those of the first attempt
	counted                   // they were checked, and the target's limits rejected the call: requests are used, nothing is held
)

// IsMetered reports whether limits and ledger entries apply to the request.
func (x *Caller) IsMetered() bool { return x != nil && x.metered }

// Reset clears the caller for the next request. It keeps the buffers, and nothing in them refers
// to the request afterwards.
func (x *Caller) Reset() {
	clear(x.limits[:cap(x.limits)])
	clear(x.both[:cap(x.both)])
	*x = Caller{limits: x.limits[:0], both: x.both[:0]}
}

// Share sets x to the limits of another caller and returns x, for an attempt of the same request
// that outlives it or runs next to it. The holds remain with from.
func (x *Caller) Share(from *Caller) *Caller {
	x.metered, x.key, x.workspace, x.stage = from.metered, from.key, from.workspace, from.stage
	return x
}

// Admit rejects a caller whose key or workspace has used up a budget or a token rate, then takes
// one request from the rates of both. If that needs a remote check and the local counts suffice,
// the check waits for the limits of the first attempt, so that a call makes only one. mayWait is
// false for a request that may never have a call. now is the time at which the request began.
// Source: contract/identity-and-governance.md section 7, the order of checks.
func (m *Meter) Admit(ctx context.Context, x *Caller, now time.Time, org string, key, workspace *quota.Plan, mayWait bool) error {
	x.metered, x.key, x.workspace = true, key, workspace
	h := append(x.limits[:0], key.Budgets...) // of amount 0, to check that something is left, also of token rates; each attempt takes from both
	h = append(append(append(h, workspace.Budgets...), workspace.Rates...), key.Rates...)
	for i := range h {
		h[i].Org = org
	}
	x.limits = h
	switch {
	case len(h) == 0:
		return nil
	case mayWait && m.Limiter.Defers(now, h):
		x.stage = waiting
		return nil
	}
	return m.takeCaller(ctx, x, now)
}

// Admitted sets the limits of a call that the gateway makes for a request that was admitted: its
// requests do not count again.
func (x *Caller) Admitted(key, workspace *quota.Plan) {
	x.metered, x.key, x.workspace = true, key, workspace
}

// takeCaller checks the limits of a caller and no others.
func (m *Meter) takeCaller(ctx context.Context, x *Caller, now time.Time) error {
	x.stage = entered
	if err := m.take(ctx, now, x.limits, atCaller); err != nil {
		return err
	}
	x.held = x.limits
	return nil
}

// AdmitWaiting checks the caller's limits if they still wait when the call is over: a call that is
// rejected before the target's limits is a request too. It returns the rejection, which takes
// precedence over the result of the call.
func (m *Meter) AdmitWaiting(ctx context.Context, x *Caller) error {
	if x.stage != waiting {
		return nil
	}
	return m.takeCaller(ctx, x, m.Clock.Now())
}

// takeWithCaller takes the holds of an attempt, together with those of its caller unless they are
// already taken. It takes all or none, in one step. A rejection by the caller's limits is final.
func (m *Meter) takeWithCaller(ctx context.Context, x *Caller, now time.Time, holds []quota.Hold) error {
	if x.stage == entered {
		return m.take(ctx, now, holds, atTarget)
	}
	both := x.both[:0]
	for i := range x.limits {
		if h := &x.limits[i]; x.stage == waiting || !h.Spent {
			both = append(both, *h)
		}
	}
	callerCount := len(both)
	both = append(both, holds...)
	x.both = both
	i, left, retry, err := m.Limiter.Reserve(ctx, now, both)
	switch {
	case err != nil:
		return err
	case i >= callerCount:
		x.stage = counted
		return refused(m.Limiter, &both[i], left, retry, now, atTarget)
	case i >= 0:
		x.stage = entered
		return refused(m.Limiter, &both[i], left, retry, now, atCaller)
	}
	x.stage, x.held = entered, both[:callerCount]
	copy(holds, both[callerCount:])
	return nil
}

// IsCallerRefusal reports whether a rejection comes from the caller's limits, which apply to every
// target.
func IsCallerRefusal(f *fault.Error) bool {
	return f.Code == fault.KeyBudgetExhausted || f.Code == fault.KeyRateLimited
}

// Leave releases the caller's holds at the end of the request. Each attempt charges its own usage.
func (m *Meter) Leave(x *Caller) {
	if len(x.held) == 0 {
		return
	}
	m.Limiter.Settle(m.Clock.Now(), x.held, nil)
	x.held = nil
}
