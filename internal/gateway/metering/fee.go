package metering

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
)

// Payer is whom the fees of a call are charged to: the caller of the call, and the cost budgets of its
// workspace, key and policies. The budgets of the provider and of its integration do not count fees,
// because that provider does not bill them. A Payer is immutable, safe for concurrent use, and does not
// refer to the memory of the request.
type Payer struct {
	budgets []quota.Hold
	entry   ledger.Entry
}

// NewPayer returns the payer of the fees of a call. The plans are those of the caller's key and
// workspace.
func NewPayer(s *Subject, key, workspace *quota.Plan) *Payer {
	all, _ := s.Policies.Match(&s.Call, slices.Concat(workspace.Budgets, key.Budgets), nil)
	p := &Payer{entry: ownEntry(s)}
	for _, h := range all {
		if h.Measure != quota.Cost {
			continue
		}
		h.Org, h.Counter.ValueKey = p.entry.OrgID, strings.Clone(h.Counter.ValueKey)
		p.budgets = append(p.budgets, h)
	}
	return p
}

// addFee adds a fee to the amounts of the budgets that a Payer of the same call has.
func (a *Account) addFee(s *Subject, nano int64) {
	budgets := a.Budgets()[len(s.Integration.Budgets)+len(s.Provider.Budgets):]
	for i := range budgets {
		if budgets[i].Measure == quota.Cost {
			budgets[i].Amount = quota.Plus(budgets[i].Amount, nano)
		}
	}
}

// ownEntry is newEntry without references to the memory of the request.
func ownEntry(s *Subject) ledger.Entry {
	e := newEntry(s)
	for _, text := range [...]*string{&e.RequestID, &e.TraceID, &e.ReplayOf, &e.ProviderID, &e.Model} {
		*text = strings.Clone(*text)
	}
	return e
}

// Price is the price of something that a call uses in addition to its model: of calls of a service, for
// example.
type Price struct {
	Name  string // of what is used: "zscaler.executePolicy"
	Nano  int64  // of one unit, in nano-dollars
	Units int64  // the most that is used
}

// total returns the price of units in nano-dollars.
func (p *Price) total(units int64) int64 {
	if p.Nano > 0 && units > quota.MaxCallUnits/p.Nano {
		return quota.MaxCallUnits
	}
	return max(p.Nano*units, 0)
}

// Fee is an open ledger entry of a price, with the holds for its maximum. It belongs to one goroutine.
type Fee struct {
	price Price
	holds []quota.Hold
	entry ledger.Entry
}

// OpenFee takes the maximum of a price from all budgets of the payer, or rejects it. It writes a
// reserved ledger entry, which survives a process kill. CloseFee or DropFee must follow.
func (m *Meter) OpenFee(ctx context.Context, p *Payer, price Price) (*Fee, error) {
	now := m.Clock.Now()
	f := &Fee{price: price, holds: slices.Clone(p.budgets), entry: p.entry}
	maximum := price.total(price.Units)
	for i := range f.holds {
		f.holds[i].Amount = maximum
	}
	if err := m.take(ctx, now, f.holds, atFee); err != nil {
		return nil, err
	}
	f.entry.ID, f.entry.State, f.entry.RecordedAt, f.entry.Amount = ident.NewIDAt(now), ledger.Reserved, now, maximum
	f.entry.Charges = f.charges(maximum)
	if err := m.Journal.AppendLine(&f.entry); err != nil {
		m.Limiter.Settle(now, f.holds, nil)
		return nil, fault.New(fault.Overloaded, "cannot reserve budget: the ledger is unavailable; retry shortly").WithCause(err)
	}
	return f, nil
}

// CloseFee charges the units that were used and adds the charge to a record, together with the closing
// ledger entry, so that both are written in one append. SettleFee must follow that append.
func (m *Meter) CloseFee(f *Fee, units int64, rec *record.Attempt) {
	nano, maximum := f.price.total(units), f.entry.Amount
	m.closing(f, ledger.Settled, nano)
	term := catalog.Term{Dimension: "guardrail_check", Key: f.price.Name, Units: units, Per: 1, Rate: quota.Cost.Text(f.price.Nano), Factor: "1", Nano: nano}
	basis := catalog.Basis{Fixed: true}
	rec.ID, rec.Closing = f.entry.ID, f.entry.AppendTo(nil)
	rec.Spend = record.Spend{State: f.entry.State.String(), Cost: nano, MaxCost: maximum, Terms: string(catalog.AppendTerms(nil, []catalog.Term{term})), Basis: basis.Text()}
}

// SettleFee releases what the fee holds, less its charge.
func (m *Meter) SettleFee(f *Fee) {
	used := make([]int64, len(f.holds))
	for i := range used {
		used[i] = f.entry.Amount
	}
	m.Limiter.Settle(m.Clock.Now(), f.holds, used)
}

// DropFee closes a fee of which nothing was used. No record shows it.
func (m *Meter) DropFee(f *Fee) {
	m.closing(f, ledger.Released, 0)
	if err := m.Journal.AppendLine(&f.entry); err != nil {
		m.Log.Error("cannot close ledger entry; it will be closed at its maximum cost on restart",
			"request_id", f.entry.RequestID, "trace_id", cmp.Or(f.entry.TraceID, f.entry.RequestID), "error", err.Error())
	}
	m.SettleFee(f)
}

// closing turns the reserved entry into the one that closes it.
func (m *Meter) closing(f *Fee, s ledger.State, nano int64) {
	f.entry.State, f.entry.RecordedAt, f.entry.Amount = s, m.Clock.Now(), nano
	f.entry.Charges = f.charges(nano)
}

// charges returns an equal charge on each budget.
func (f *Fee) charges(nano int64) []ledger.Charge {
	out := make([]ledger.Charge, len(f.holds))
	for i := range f.holds {
		c := &f.holds[i].Counter
		out[i] = ledger.Charge{Subject: c.Subject, Entry: c.Entry, ValueKey: c.ValueKey, Units: nano, Cost: true}
	}
	return out
}
