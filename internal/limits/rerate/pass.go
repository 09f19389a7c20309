package rerate

import (
	"context"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/ledger"
)

// maxWaiting is how many corrections are written before the pass waits for the log to ingest
// them. It limits the corrections that are only in the journal.
const maxWaiting = 5000

// pass is one run through the attempts of an order.
type pass struct {
	*Engine
	order   Order
	biller  biller
	correct bool
	waiting int // corrections that the log may not have yet
	out     Outcome
}

// pass processes the attempts of an order, oldest first, one page at a time. It corrects them if
// correct is set.
func (e *Engine) pass(ctx context.Context, o Order, operation string, correct bool) (Outcome, error) {
	p := &pass{Engine: e, order: o, biller: newBiller(e.Prices, e.Accounts()), correct: correct, out: Outcome{Operation: operation}}
	q := record.Query{OrgID: o.OrgID, WorkspaceID: o.WorkspaceID, From: o.From, To: o.To, Limit: record.MaxLimit}
	if o.Provider != "" {
		q.Providers = []string{o.Provider}
	}
	if o.Model != "" {
		q.Models = []string{o.Model}
	}
	for {
		page, err := e.Logs.Billed(ctx, q)
		if err != nil {
			return Outcome{}, err
		}
		for i := range page.Rows {
			if err := p.take(ctx, &page.Rows[i]); err != nil {
				return Outcome{}, err
			}
		}
		if q.After = page.Next; q.After == "" {
			return p.out, nil
		}
	}
}

// take re-rates one attempt.
func (p *pass) take(ctx context.Context, b *record.Billed) error {
	account, known := p.biller.account(b)
	if integrationID := p.order.IntegrationID; integrationID != "" && (account == nil || account.IntegrationID != integrationID) {
		return nil
	}
	basis, charges, ok := again(b)
	if basis.Fixed {
		return nil
	}
	if !known || !ok {
		p.out.Left++
		return nil
	}
	after, err := p.biller.bill(ctx, b, &basis, account)
	if err != nil {
		return err
	}
	p.out.Attempts++
	if after.Unpriced != "" {
		p.out.Unpriced++
		after.Cost = b.Charged.Nano
	}
	p.out.Before += b.Charged.Nano
	p.out.After += after.Cost
	if after.Unpriced != "" || after.Cost == b.Charged.Nano && b.Spend.Unpriced == "" {
		return nil
	}
	return p.change(ctx, b, after, charges)
}

// again returns what an attempt is billed by and which budgets were charged. ok is false if
// either is unknown: older programs recorded neither, of a call interrupted by a crash only the
// maximum cost is known, and a cached response was not charged.
func again(b *record.Billed) (basis catalog.Basis, charges []ledger.Charge, ok bool) {
	counted := b.Spend.State == ledger.Settled.String() || b.Spend.State == ledger.Estimated.String()
	if !counted || b.Charged.ClosedAt.IsZero() || b.Spend.Saved != 0 {
		return basis, nil, false
	}
	basis, strange := catalog.ReadBasis(b.Spend.Basis)
	charges, unread := ledger.ReadCostCounters(b.Charged.Budgets)
	return basis, charges, strange == nil && unread == nil
}

// change records that an attempt now has another cost, and corrects it.
func (p *pass) change(ctx context.Context, b *record.Billed, after record.Rated, charges []ledger.Charge) error {
	s := &b.Spend
	c := record.Correction{
		ID: b.ID, Started: b.Started, Operation: p.out.Operation, By: p.order.By,
		Before: record.Rated{Cost: b.Charged.Nano, Unpriced: s.Unpriced, Version: s.Version, Terms: s.Terms}, After: after,
	}
	p.out.Changed++
	if len(p.out.Changes) < maxChanges {
		p.out.Changes = append(p.out.Changes, Change{ID: b.ID, Started: b.Started, Before: c.Before, After: after})
	}
	if !p.correct {
		return nil
	}
	c.RatedAt, c.Closing = p.Clock.Now(), correcting(b, after.Cost, charges).AppendTo(nil)
	if err := p.Journal.AppendCorrection(&c); err != nil {
		return fault.New(fault.Overloaded, "the ledger is unavailable; corrections made so far are stored, so repeat the call shortly").WithCause(err)
	}
	if p.waiting++; p.waiting < maxWaiting {
		return nil
	}
	p.waiting = 0
	return late(p.Logs.WaitIngested(ctx))
}

// correcting returns the ledger entry that charges the difference to all budgets that were
// charged for an attempt. Its time is that of the charge, so that a budget that was reset since
// then does not change.
func correcting(b *record.Billed, cost int64, charges []ledger.Charge) *ledger.Entry {
	for i := range charges {
		charges[i].Units = cost - b.Charged.Nano
	}
	return &ledger.Entry{
		ID: b.ID, RequestID: b.RequestID, State: ledger.Corrected, RecordedAt: b.Charged.ClosedAt, OrgID: b.OrgID, WorkspaceID: b.WorkspaceID, KeyID: b.KeyID,
		Provider: b.Provider, ProviderID: b.ProviderID, Model: b.Model, Endpoint: b.Endpoint, Amount: cost, Charges: charges,
	}
}
