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

// callerLimits are the limits of a caller.
type callerLimits struct{ key, workspace *quota.Plan }

// limitStage is how far the limits of a caller were asked.
type limitStage uint8

const (
	entered limitStage = iota // what they let through is taken, or there are none
	waiting                   // they are asked together with those of the first attempt
	counted                   // so they were, and the target's refused: requests are used, nothing is held
)

// limitCaller refuses a caller whose key or workspace has used up a budget or a rate of
// tokens, then takes one request from the rates of both. Where others have to be asked for that, and by what
// is known here all of it fits, it waits for the limits of the first attempt: a call asks
// once.
// Source: contract/identity-and-governance.md section 7, the order of checks.
func (g *Gateway) limitCaller(ctx context.Context, x *exchange) error {
	if x.metered = gated && metered(x.match, x.req.Method, x.path); !x.metered {
		return nil
	}
	p := &x.key.Principal
	key, workspace := x.dir.Limits(keys.Kind, p.ID), x.dir.Limits(tenant.WorkspaceKind, p.WorkspaceID)
	x.limits = callerLimits{key, workspace}
	h := append(x.scratch.caller[:0], key.Budgets...) // of amount 0: whether anything is left, as of rates of tokens; each attempt takes from both
	h = append(append(append(h, workspace.Budgets...), workspace.Rates...), key.Rates...)
	for i := range h {
		h[i].Org = p.OrgID
	}
	x.scratch.caller = h
	switch {
	case len(h) == 0:
		return nil
	case x.match.Endpoint != llm.Realtime && g.Limiter.Defers(x.started, h): // a conversation may never have a response
		x.entry = waiting
		return nil
	}
	return g.checkCallerOnly(ctx, x, x.started)
}

// checkCallerOnly asks the limits of a caller and no others.
func (g *Gateway) checkCallerOnly(ctx context.Context, x *exchange, now time.Time) error {
	x.entry = entered
	if err := g.take(ctx, now, x.scratch.caller, atCaller); err != nil {
		return err
	}
	x.holds = x.scratch.caller
	return nil
}

// checkDeferred asks limits of a caller that still wait when the call is over: one that is
// refused before it comes to the limits of a target is a request too. What they say is
// before err, which is how the call went.
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

// checkWithTarget takes the holds of an attempt and with them, unless they are taken, those of
// its caller: all or none, in one question. A refusal of the caller's own limits is final.
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

// ofCaller reports whether a refusal is one of the caller's own limits, which bind it at
// every target.
func ofCaller(f *fault.Error) bool {
	return f.Code == fault.KeyBudgetExhausted || f.Code == fault.KeyRateLimited
}

// releaseCallerHolds gives the holds of the caller back. What was used is charged by each attempt.
func (g *Gateway) releaseCallerHolds(x *exchange) {
	if len(x.holds) == 0 {
		return
	}
	g.Limiter.Settle(g.Clock.Now(), x.holds, nil)
	x.holds = nil
}
