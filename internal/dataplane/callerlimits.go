package dataplane

import (
	"context"
	"time"

	"sluice/internal/fault"
	"sluice/internal/keys"
	"sluice/internal/llm"
	"sluice/internal/quota"
	"sluice/internal/tenant"
)

// callerLimits are the limits of a caller's API key and workspace.
type callerLimits struct{ key, workspace *quota.Plan }

// limitStage is how far the caller's limits have been checked.
type limitStage uint8

const (
	entered limitStage = iota // the caller's holds are taken, or there are none
	waiting                   // they are checked together with those of the first attempt
	counted                   // they were checked, and the target's limits rejected the call: requests are used, nothing is held
)

// limitCaller rejects a caller whose key or workspace has used up a budget or a token rate, then
// takes one request from the rates of both. If that needs a remote check and the local counts
// suffice, the check waits for the limits of the first attempt, so that a call makes only one.
// Source: contract/identity-and-governance.md section 7, the order of checks.
func (g *Gateway) limitCaller(ctx context.Context, x *exchange) error {
	if x.metered = gated && metered(x.match, x.req.Method, x.path); !x.metered {
		return nil
	}
	p := &x.key.Principal
	key, workspace := x.dir.Limits(keys.Kind, p.ID), x.dir.Limits(tenant.WorkspaceKind, p.WorkspaceID)
	x.limits = callerLimits{key, workspace}
	h := append(x.scratch.caller[:0], key.Budgets...) // of amount 0, to check that something is left, also of token rates; each attempt takes from both
	h = append(append(append(h, workspace.Budgets...), workspace.Rates...), key.Rates...)
	for i := range h {
		h[i].Org = p.OrgID
	}
	x.scratch.caller = h
	switch {
	case len(h) == 0:
		return nil
	case x.match.Endpoint != llm.Realtime && g.Limiter.Defers(x.started, h): // a Realtime conversation may never have a response
		x.entry = waiting
		return nil
	}
	return g.checkCallerOnly(ctx, x, x.started)
}

// checkCallerOnly checks the limits of a caller and no others.
func (g *Gateway) checkCallerOnly(ctx context.Context, x *exchange, now time.Time) error {
	x.entry = entered
	if err := g.take(ctx, now, x.scratch.caller, atCaller); err != nil {
		return err
	}
	x.holds = x.scratch.caller
	return nil
}

// checkDeferred checks the caller's limits if they still wait when the call is over: a call that
// is rejected before the target's limits is a request too. Its rejection takes precedence over
// err, the result of the call.
func (g *Gateway) checkDeferred(ctx context.Context, x *exchange, err error) error {
	if x.entry != waiting {
		return err
	}
	refused := g.checkCallerOnly(ctx, x, g.Clock.Now())
	if refused == nil {
		return err
	}
	if x.last != nil {
		g.discard(x.last)
	}
	return refused
}

// checkWithTarget takes the holds of an attempt, together with those of its caller unless they
// are already taken. It takes all or none, in one step. A rejection by the caller's limits is
// final.
func (g *Gateway) checkWithTarget(ctx context.Context, x *exchange, now time.Time, holds []quota.Hold) error {
	if x.entry == entered {
		return g.take(ctx, now, holds, atTarget)
	}
	both := x.scratch.both[:0]
	for i := range x.scratch.caller {
		if h := &x.scratch.caller[i]; x.entry == waiting || !h.Spent {
			both = append(both, *h)
		}
	}
	callerCount := len(both)
	both = append(both, holds...)
	x.scratch.both = both
	i, left, retry, err := g.Limiter.Reserve(ctx, now, both)
	switch {
	case err != nil:
		return err
	case i >= callerCount:
		x.entry = counted
		return g.refused(&both[i], left, retry, now, atTarget)
	case i >= 0:
		x.entry = entered
		return g.refused(&both[i], left, retry, now, atCaller)
	}
	x.entry, x.holds = entered, both[:callerCount]
	copy(holds, both[callerCount:])
	return nil
}

// ofCaller reports whether a rejection comes from the caller's limits, which apply to every
// target.
func ofCaller(f *fault.Error) bool {
	return f.Code == fault.KeyBudgetExhausted || f.Code == fault.KeyRateLimited
}

// releaseCallerHolds releases the caller's holds. Each attempt charges its own usage.
func (g *Gateway) releaseCallerHolds(x *exchange) {
	if len(x.holds) == 0 {
		return
	}
	g.Limiter.Settle(g.Clock.Now(), x.holds, nil)
	x.holds = nil
}
