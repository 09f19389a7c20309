package metering

import (
	"sluice/internal/domain/record"
	"sluice/internal/gateway/metering/bound"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
)

// Charge is the final usage and cost of a call.
type Charge struct {
	State ledger.State
	Usage llm.Usage
	Basis catalog.Basis // what the bill depends on besides Usage
	Bill  catalog.Cost
	Card  *catalog.RateCard // prices that Bill was calculated with; nil if the usage is not known
}

// chargeOf computes the usage and cost of a call. Usage that the provider reported is billed,
// however the call ended. Otherwise the gateway counts the response. A call without a response
// costs its input, unless the provider refused it or never received it.
func (m *Meter) chargeOf(a *Account, c *bound.Call, how Outcome, r *Response) Charge {
	m.updatePrices(a, c)
	o := Charge{State: ledger.Settled, Usage: r.Usage.Bounded()}
	switch {
	case how == Unsent, how == InBackground, how == Parked, how == Refused && !o.Usage.Reported:
		return Charge{State: ledger.Released, Bill: catalog.Cost{Version: a.models.Card.Version()}}
	case how == AbandonedBackground:
		return a.maxCharge()
	}
	if u, estimated := m.estimate(a, c, how, r, o.Usage); estimated {
		o.State, o.Usage = ledger.Estimated, u
	}
	model := m.billed(a, c, r.Model)
	o.Basis = catalog.NewBasis(c.Endpoint, model.Model, c.Model, &a.max, &o.Usage)
	if o.Usage.Tier == llm.UsualTier {
		o.Usage.Tier = "" // the basis reflects it; nearly every record would repeat it
	}
	o.Basis.Other = append(o.Basis.Other, c.Pages(o.Usage.Pages)...)
	u := o.Basis.Units(c.Endpoint, &o.Usage)
	u.StartedAt = r.Started
	o.Bill, o.Card = model.Card.Cost(&u, a.mem.terms), model.Card
	a.mem.terms = o.Bill.Terms
	return o
}

// maxCharge returns the maximum cost of a call as its charge, for limits. It is used when the
// actual usage cannot be determined.
func (a *Account) maxCharge() Charge {
	maximum := llm.Usage{InputTokens: a.max.Input, OutputTokens: a.max.Output}
	card := a.models.Card
	return Charge{State: ledger.Unknown, Usage: maximum, Bill: catalog.Cost{Cost: a.maxNano, Version: card.Version(), Reason: card.Reason()}}
}

// billed returns the model for which the call is billed, as price lists name it, and its prices.
// It is the model of the response, answered, if that has a price, in three cases: the call may
// fall back, its model is in a passed-through path, or its body is not parsed.
func (m *Meter) billed(a *Account, c *bound.Call, answered string) bound.Fallback {
	requested := bound.Fallback{Model: c.PriceName(), Card: a.models.Card}
	unread := requested.Model == "" && c.Unread
	if !a.models.MayFallBack && !c.ModelInPath && !unread || answered == "" {
		return requested
	}
	like, ok := a.models.Answering(requested.Model, answered)
	if !ok {
		like = bound.Fallback{Model: answered, Card: m.price(a, c, answered)}
	}
	if like.Card.Reason() != "" {
		return requested
	}
	return like
}

// spend returns the money part of the attempt's record.
func (a *Account) spend() record.Spend {
	o := &a.charge
	p := record.Spend{State: o.State.String(), Cost: o.Bill.Cost, Saved: o.Bill.Saved, MaxCost: a.maxNano, Version: o.Bill.Version, Unpriced: o.Bill.MissingPrice(), Basis: o.Basis.Text()}
	a.mem.termText = catalog.AppendTerms(a.mem.termText[:0], o.Bill.Terms)
	p.Terms = string(a.mem.termText)
	return p
}

// usedUnits returns the usage in the units of each hold. The slice is valid until the next call.
func (a *Account) usedUnits(holds []quota.Hold) []int64 {
	a.mem.used = a.mem.used[:0]
	for i := range holds {
		a.mem.used = append(a.mem.used, a.charge.amount(holds[i].Measure))
	}
	return a.mem.used
}

// amount returns the usage in the units of a measure: requests, tokens or nano-dollars.
func (o *Charge) amount(m quota.Measure) int64 {
	switch {
	case o.State == ledger.Released:
		return 0
	case m == quota.Calls:
		return 1
	case m == quota.TokenCount:
		return max(o.Usage.TotalTokens, o.Usage.InputTokens+o.Usage.OutputTokens)
	}
	return o.Bill.Cost
}

// listCharges returns the charges of budgets: the held amounts while the entry is reserved (o is
// nil), and the usage once it is closed. The slice is valid until the next call.
func (a *Account) listCharges(o *Charge) []ledger.Charge {
	a.mem.charges = a.mem.charges[:0]
	budgets := a.Budgets()
	for i := range budgets {
		h := &budgets[i]
		n := h.Amount
		if o != nil {
			n = o.amount(h.Measure)
		}
		a.mem.charges = append(a.mem.charges, ledger.Charge{Subject: h.Counter.Subject, Entry: h.Counter.Entry, ValueKey: h.Counter.ValueKey, Units: n, Cost: h.Measure == quota.Cost})
	}
	return a.mem.charges
}
