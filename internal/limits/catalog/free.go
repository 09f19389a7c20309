package catalog

// freeVersion is the version of the costs of free providers.
const freeVersion = "free"

// free is the RateCard of every model of a free provider.
var free = &RateCard{version: freeVersion, free: true}

// Free returns the PriceOverrides for a provider that costs nothing, such as one that runs on
// local machines. Each of its models has a price of 0. They are safe for concurrent use.
func Free() *PriceOverrides { return freeAgreement }

var freeAgreement = &PriceOverrides{free: true}

// Free reports whether all calls at the RateCard cost nothing because their provider is free.
func (t *RateCard) Free() bool { return t.free }

// Prices reports whether anything that a call may use has a rate, so that MaxCost is
// meaningful. It is false for a model without a price, and for images of a model that is
// priced only by tokens. A rate of 0 is a rate.
func (t *RateCard) Prices(l *Limits) bool {
	switch {
	case t.free:
		return true
	case t.reason != "":
		return false
	}
	p := t.plan(l.Region, l.Execution, max(0, l.Input))
	used := l.Requests > 0 && (p.fixed[0] != nil || p.fixed[1] != nil) ||
		l.Input > 0 && p.has(sideInput) || l.Output > 0 && p.has(sideOutput) ||
		l.AudioMilli > 0 && p.minute != nil || l.Characters > 0 && p.character != nil || l.Searches > 0 && p.dearestSearch(l.SearchContext) != nil
	for i := range l.Images {
		used = used || p.dearestImage(l.Images[i].Quality, l.Images[i].Size) != nil
	}
	for i := range l.Other {
		used = used || p.unit(l.Other[i].Name) != nil
	}
	return used
}

// has reports whether tokens of a side have any rate.
func (p *plan) has(s side) bool {
	for d, r := range p.tokens {
		if r != nil && dimensions[d].side == s {
			return true
		}
	}
	return false
}
