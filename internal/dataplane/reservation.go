package dataplane

import (
	"context"
	"slices"
	"time"

	"sluice/internal/catalog"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/ledger"
	"sluice/internal/llm"
	"sluice/internal/quota"
	"sluice/internal/record"
)

// limiter contains the counters of limits. *quota.Limiter has those of one node, *redis.Limiter
// those that nodes share.
type limiter interface {
	// Reserve takes all holds or none. Its error means that the limits cannot be checked.
	Reserve(ctx context.Context, now time.Time, holds []quota.Hold) (refused int, left int64, retry time.Time, err error)
	// Defers reports whether holds are better reserved together with later ones of the same
	// call: alone they would need a round trip to Redis, and they fit by the local counters.
	Defers(now time.Time, holds []quota.Hold) bool
	Settle(now time.Time, holds []quota.Hold, used []int64)
	State(now time.Time, h *quota.Hold) quota.State
}

// prices looks up what models cost. *catalog.PriceList implements it.
type prices interface {
	Find(provider, model string, a *catalog.PriceOverrides) *catalog.RateCard
	Has(provider, model string, a *catalog.PriceOverrides) bool
	Loaded(provider string) bool
	Names(provider string, now time.Time) []string
	ContextLimits(provider, model string) catalog.ContextLimits
}

// reservation is the money of one attempt: its maximum cost, the holds on limits for that, and the
// ledger entry that records both. An entry is reserved before each call of the provider, and
// closed with the actual cost of the call.
type reservation struct {
	tariff      *catalog.RateCard
	early       bool // the provider's price list was not read yet: built-in prices are used
	falls       fallbacks
	later       bool      // a job: rates count its tokens when it is settled
	modelBuf    [1]string // buffer of attempt.models for a call that names no other
	maxUsage    catalog.Limits
	cap         int64 // maximum tokens of a response that the caller permits; 0: not stated
	responses   int64 // number of responses to one prompt that the caller requests
	maxCostNano int64 // cost of the maximum usage, in nano-dollars
	line        ledger.Entry
	open        bool         // the ledger entry is reserved and not closed
	holds       []quota.Hold // budgets, then rates
	rates       int          // index of the first rate in holds
	moved       bool         // the holds of budgets and of token rates now belong to another attempt
	finalCharge charge       // what the attempt used and cost, once its entry is closed
}

// newReservation returns the reservation of a metered attempt, from the request's scratch space.
func (a *attempt) newReservation() *reservation {
	if a.reservation != nil { // of the previous response in a conversation
		return a.reservation
	}
	r := a.x.scratch
	if r.reservation == nil {
		r.reservation = new(reservation)
	}
	*r.reservation = reservation{}
	a.reservation = r.reservation
	return a.reservation
}

// reserved reports whether a ledger entry is reserved and not closed. A nil reservation holds
// nothing.
func (s *reservation) reserved() bool { return s != nil && s.open }

// reserve takes the maximum usage of the attempt from all limits that apply to it, or rejects the
// attempt. It also writes a ledger entry, which survives a process kill, before anything is sent.
// Source: contract/identity-and-governance.md sections 6 to 8.
func (g *Gateway) reserve(ctx context.Context, a *attempt) (err error) {
	if !a.x.metered {
		return nil
	}
	s := a.newReservation()
	g.setModelFromPath(a)
	s.early = !g.Prices.Loaded(a.spec.ID)
	s.tariff = g.priceOf(a, a.priceName())
	if s.falls, err = g.fallbacks(a); err != nil {
		return err
	}
	s.allow(a.requestedLength())
	s.maxUsage = g.maxUsage(a)
	s.maxCostNano = s.dearest()
	s.holds, s.rates = g.collectHolds(a)
	if err := g.reserveMax(ctx, a); err != nil {
		s.holds = nil
		return err
	}
	now, id := g.Clock.Now(), a.recordID()
	if s.line.ID != "" { // the next response of a conversation
		id = ident.NewIDAt(now)
	}
	if err := g.checkWithTarget(ctx, a.x, now, s.holds); err != nil {
		s.holds = nil
		return err
	}
	return g.recordReservation(a, now, id)
}

// reserveMax checks that the maximum cost of the attempt is known where a budget needs it. The
// attempt is either a job at its provider or a call with an immediate response.
func (g *Gateway) reserveMax(ctx context.Context, a *attempt) error {
	if kind := a.beginsJob(); kind != "" {
		return g.reserveJob(ctx, a, kind)
	}
	if err := g.checkPriced(a); err != nil {
		return err
	}
	g.narrow(a)
	return nil
}

// priceOf returns the price of a model at the attempt's provider, for the attempt's account.
func (g *Gateway) priceOf(a *attempt, model string) *catalog.RateCard {
	return g.Prices.Find(a.spec.ID, model, a.x.dir.Agreement(a.account))
}

// priceAgain updates the prices when the price list was read after the reservation, so that
// the first call of a provider costs the same as later ones.
func (g *Gateway) priceAgain(a *attempt) {
	s := a.reservation
	if !s.early || !g.Prices.Loaded(a.spec.ID) {
		return
	}
	s.early, s.tariff = false, g.priceOf(a, a.priceName())
	s.falls.list = slices.Clone(s.falls.list) // another attempt may share the list
	for i := range s.falls.list {
		f := &s.falls.list[i]
		f.tariff = g.priceOf(a, f.model)
	}
}

// take reserves all holds, or rejects the call.
func (g *Gateway) take(ctx context.Context, now time.Time, holds []quota.Hold, where limitScope) error {
	i, left, retry, err := g.Limiter.Reserve(ctx, now, holds)
	switch {
	case err != nil:
		return err
	case i >= 0:
		return g.refused(&holds[i], left, retry, now, where)
	}
	return nil
}

// recordReservation writes the ledger entry of one call. If that fails, it releases the holds.
func (g *Gateway) recordReservation(a *attempt, now time.Time, id string) error {
	err := g.appendEntry(a, now, id)
	if err != nil {
		g.Limiter.Settle(now, a.reservation.holds, nil)
	}
	return err
}

// appendEntry writes the reserved ledger entry of one call.
func (g *Gateway) appendEntry(a *attempt, now time.Time, id string) error {
	s, p := a.reservation, &a.x.key.Principal
	s.line = ledger.Entry{
		ID: id, RequestID: a.x.id, State: ledger.Reserved, RecordedAt: now, OrgID: p.OrgID, WorkspaceID: p.WorkspaceID, KeyID: p.ID,
		Provider: a.spec.ID, Model: a.model, Endpoint: a.x.match.Endpoint,
		Amount: s.maxCostNano, Unpriced: s.tariff.Reason() != "" && s.maxCostNano == 0, Set: g.charges.lookup(s.holds[:s.rates]),
	}
	s.charge(a.x.scratch, nil)
	if a.account != nil {
		s.line.ProviderID = a.account.Slug
	}
	if a.x.trace.ID != a.x.id {
		s.line.TraceID = a.x.trace.ID
	}
	a.x.replay.markLine(&s.line)
	if err := g.Journal.AppendLine(&s.line); err != nil {
		return fault.New(fault.Overloaded, "cannot reserve budget: the ledger is unavailable; retry shortly").WithCause(err)
	}
	s.open, a.sentUpstream = true, false
	return nil
}

// reserveRetry closes the entry of a call that is abandoned for a retry, and reserves the retry.
func (g *Gateway) reserveRetry(ctx context.Context, a *attempt, err error) error {
	s := a.reservation
	if !s.reserved() {
		return nil
	}
	s.finalCharge = g.charge(a, a.retryOutcome(err))
	g.buildClosingEntry(a)
	if err := g.Journal.AppendLine(&s.line); err != nil {
		g.Log.Error("cannot close ledger entry; it will be closed at its maximum cost on restart", "request_id", a.x.id, "trace_id", a.x.trace.ID, "error", err.Error())
	}
	now := g.Clock.Now()
	if err := g.takeAgain(ctx, now, a); err != nil {
		g.Limiter.Settle(now, s.holds, nil)
		s.holds = nil
		return err
	}
	if err := g.recordReservation(a, now, ident.NewIDAt(now)); err != nil {
		s.holds = nil
		return err
	}
	return nil
}

// buildClosingEntry turns the reserved entry into the one that closes it.
func (g *Gateway) buildClosingEntry(a *attempt) {
	s, o := a.reservation, &a.reservation.finalCharge
	s.open = false
	s.line.State, s.line.RecordedAt, s.line.Amount, s.line.Unpriced = o.state, g.Clock.Now(), o.bill.Cost, !o.bill.Priced()
	s.charge(a.x.scratch, o)
}

// closeReservation computes what the attempt used and cost and adds it to the record, together with
// the closing ledger entry, so that both are written in one append.
func (g *Gateway) closeReservation(a *attempt, r *record.Attempt) {
	s := a.reservation
	if !s.reserved() {
		return
	}
	s.finalCharge = g.charge(a, a.outcomeFor(r.Outcome))
	g.buildClosingEntry(a)
	g.contexts.note(a.answers, &s.finalCharge.usage)
	r.Spend, r.Usage = s.spend(a.x.scratch), s.finalCharge.usage
	if s.finalCharge.state == ledger.Unknown {
		r.Usage = llm.Usage{} // the maximum is not a count
	}
	mem := a.x.scratch
	mem.closing = s.line.AppendTo(mem.closing[:0])
	r.Closing = mem.closing
	g.Metrics.spent(a.spec.ID, &r.Spend)
}

// releaseUnused releases the holds on limits, less what was used.
func (g *Gateway) releaseUnused(a *attempt) {
	switch s := a.reservation; {
	case s == nil || len(s.holds) == 0:
	case s.moved: // the other holds belong to the attempt that reads the response to its end
		g.Limiter.Settle(g.Clock.Now(), onlySpent(a.x.scratch.both[:0], s.holds), nil)
	default:
		g.Limiter.Settle(g.Clock.Now(), s.holds, a.x.scratch.usedUnits(s.holds, &s.finalCharge))
	}
}
