package metering

import (
	"cmp"
	"context"
	"time"

	"sluice/internal/gateway/metering/bound"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
)

// Reserve takes the maximum usage of a call from all limits that apply to it, or rejects the
// call. It also writes a ledger entry with the given id, which survives a process kill, before
// anything is sent. An account that was used before, as in a conversation, gets a new id.
// Source: contract/identity-and-governance.md sections 6 to 8.
func (m *Meter) Reserve(ctx context.Context, a *Account, x *Caller, s *Subject, c *bound.Call, id string) error {
	if err := m.Estimate(a, x, s, c); err != nil {
		return err
	}
	if err := m.checkPriced(a, c); err != nil {
		a.Drop()
		return err
	}
	m.narrow(a, c)
	return m.Take(ctx, a, x, s, id)
}

// Estimate computes the maximum usage and cost of a call and lists its holds. It is the first part
// of Reserve, for calls whose maximum depends on more than the call itself: jobs.
func (m *Meter) Estimate(a *Account, x *Caller, s *Subject, c *bound.Call) error {
	a.terms, a.early = s.Terms, !m.Prices.Loaded(c.Spec.ID)
	a.models = bound.Models{Name: c.PriceName()}
	a.models.Card = m.price(a, c, a.models.Name)
	if err := a.models.ReadFallbacks(c); err != nil {
		return err
	}
	for i := range a.models.Fallbacks {
		a.models.Fallbacks[i].Card = m.price(a, c, a.models.Fallbacks[i].Model)
	}
	a.models.Limits = m.ContextLimits(a, c)
	a.length = c.Length(&a.models)
	a.SetMax(c.Max(&a.models, a.length, m.sizes), 0)
	a.maxNano = a.models.MaxCost(&a.max)
	m.Collect(a, x, s, c)
	return nil
}

// Take takes the holds and writes the ledger entry. It is the last part of Reserve.
func (m *Meter) Take(ctx context.Context, a *Account, x *Caller, s *Subject, id string) error {
	now := m.Clock.Now()
	if a.entry.ID != "" { // the next response of a conversation
		id = ident.NewIDAt(now)
	}
	if err := m.takeWithCaller(ctx, x, now, a.holds); err != nil {
		a.Drop()
		return err
	}
	a.entry = newEntry(s)
	return m.openOrRelease(a, now, id)
}

// Probe returns the error that Reserve would return after a fee was charged, without reserving anything
// or writing a ledger entry. A call that waits for a paid check uses it. feeNano is the maximum of the
// fee in nano-dollars. Limits of the caller that still wait are taken first, because the call may end
// with the check.
func (m *Meter) Probe(ctx context.Context, a *Account, x *Caller, s *Subject, c *bound.Call, feeNano int64) error {
	if err := m.AdmitWaiting(ctx, x); err != nil {
		return err
	}
	if err := m.Estimate(a, x, s, c); err != nil {
		return err
	}
	defer a.Drop()
	if err := m.checkPriced(a, c); err != nil {
		return err
	}
	a.addFee(s, feeNano)
	if m.narrow(a, c) {
		a.addFee(s, feeNano)
	}
	now := m.Clock.Now()
	if err := m.take(ctx, now, a.holds, atTarget); err != nil {
		return err
	}
	m.Limiter.Settle(now, a.holds, nil)
	return nil
}

// Hit takes one request of the policies that apply to a response from the cache, together with the
// limits of the caller, and rejects it if one of their budgets is used up. The response costs nothing,
// so nothing remains held, and no ledger entry is written. The limits of the provider and the
// integration do not apply.
func (m *Meter) Hit(ctx context.Context, a *Account, x *Caller, s *Subject) error {
	h, rates := s.Policies.Match(&s.Call, a.mem.holds[:0], a.mem.rates[:0])
	a.mem.rates = rates
	h = append(h, rates...)
	a.mem.holds = h
	for i := range h {
		h[i].Org = s.Call.OrgID
		if h[i].Amount = 0; h[i].Measure == quota.Calls {
			h[i].Amount = 1
		}
	}
	now := m.Clock.Now()
	if err := m.takeWithCaller(ctx, x, now, h); err != nil {
		return err
	}
	m.Limiter.Settle(now, h, nil)
	return nil
}

// Drop forgets the holds of an estimate that is not taken.
func (a *Account) Drop() { a.holds, a.rates = nil, 0 }

// newEntry returns the part of the ledger entry that all calls of an attempt share.
func newEntry(s *Subject) ledger.Entry {
	k := &s.Call
	return ledger.Entry{
		RequestID: s.RequestID, TraceID: s.TraceID, ReplayOf: s.ReplayOf, OrgID: k.OrgID, WorkspaceID: k.Workspace.ID, KeyID: k.KeyID,
		Provider: k.Provider, ProviderID: k.Account.Slug, Model: k.Model, Endpoint: k.Endpoint,
	}
}

// take reserves all holds, or rejects the call.
func (m *Meter) take(ctx context.Context, now time.Time, holds []quota.Hold, where limitScope) error {
	i, left, retry, err := m.Limiter.Reserve(ctx, now, holds)
	switch {
	case err != nil:
		return err
	case i >= 0:
		return refused(m.Limiter, &holds[i], left, retry, now, where)
	}
	return nil
}

// openOrRelease writes the ledger entry of one call. If that fails, it releases the holds.
func (m *Meter) openOrRelease(a *Account, now time.Time, id string) error {
	err := m.open(a, now, id)
	if err != nil {
		m.Limiter.Settle(now, a.holds, nil)
		a.Drop()
	}
	return err
}

// Open writes the reserved ledger entry of an account that follows another one. The account then
// counts as sent, together with the call of the other.
func (m *Meter) Open(a *Account, id string) error {
	if err := m.open(a, m.Clock.Now(), id); err != nil {
		return err
	}
	a.sent = true
	return nil
}

// open writes the reserved ledger entry of one call.
func (m *Meter) open(a *Account, now time.Time, id string) error {
	e := &a.entry
	e.ID, e.State, e.RecordedAt = id, ledger.Reserved, now
	e.Amount, e.Unpriced = a.maxNano, a.models.Card.Reason() != "" && a.maxNano == 0
	e.Set, e.Charges, e.Amounts = m.sets.lookup(a.Budgets()), nil, ledger.Amounts{}
	a.setCharges(nil)
	if err := m.Journal.AppendLine(e); err != nil {
		return fault.New(fault.Overloaded, "cannot reserve budget: the ledger is unavailable; retry shortly").WithCause(err)
	}
	a.open, a.sent = true, false
	return nil
}

// Retry closes the entry of a call that is abandoned for a retry, and reserves the retry. It does
// nothing for an account without an open entry.
func (m *Meter) Retry(ctx context.Context, a *Account, c *bound.Call, how Outcome, r *Response) error {
	if !a.IsOpen() {
		return nil
	}
	m.closeEntry(a, c, how, r)
	now := m.Clock.Now()
	if err := m.takeAgain(ctx, now, a, c); err != nil {
		m.Limiter.Settle(now, a.holds, nil)
		a.Drop()
		return err
	}
	return m.openOrRelease(a, now, ident.NewIDAt(now))
}

// closeEntry charges a call and writes its closing entry, which no record carries.
func (m *Meter) closeEntry(a *Account, c *bound.Call, how Outcome, r *Response) {
	a.charge = m.chargeOf(a, c, how, r)
	setClosing(a, m.Clock.Now())
	if err := m.Journal.AppendLine(&a.entry); err != nil {
		m.Log.Error("cannot close ledger entry; it will be closed at its maximum cost on restart",
			"request_id", a.entry.RequestID, "trace_id", cmp.Or(a.entry.TraceID, a.entry.RequestID), "error", err.Error())
	}
}

// setClosing turns the reserved entry into the one that closes it.
func setClosing(a *Account, now time.Time) {
	o := &a.charge
	a.open = false
	a.entry.State, a.entry.RecordedAt, a.entry.Amount, a.entry.Unpriced = o.State, now, o.Bill.Cost, !o.Bill.Priced()
	a.setCharges(o)
}
