package catalog

// freeVersion is the version of bills of providers that cost nothing.
const freeVersion = "free"

// free is the tariff of every model of a provider that costs nothing.
var free = &RateCard{version: freeVersion, free: true}

// Free is the Agreement for a provider that costs nothing, as one that runs on own
// machines: each of its models has a price, which is 0. Safe for concurrent use.
func Free() *PriceOverrides { return freeAgreement }

var freeAgreement = &PriceOverrides{free: true}

// Free reports whether all calls at the tariff cost nothing because their provider does.
func (t *RateCard) Free() bool { return t.free }

// Prices reports whether anything that a call may use has a rate, so that Bound says what the
// call can cost: false of a model without a price, and of pictures that are asked of a model
// that has a price of tokens alone. A rate of 0 is one.
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
