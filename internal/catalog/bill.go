package catalog

import "slices"

// Cost is what a call costs, in nano-dollars (10^-9), and how that comes about. The
// amounts of the terms add up to Cost plus Saved, unless Overflow is set.
type Cost struct {
	Cost    int64  `json:"cost_nano"`
	Saved   int64  `json:"saved_nano,omitempty"` // what an answer of the gateway's cache would have cost
	Terms   []Term `json:"terms,omitempty"`
	Version string `json:"price_version,omitempty"` // see Tariff.Version
	Plan    string `json:"plan,omitempty"`          // the prices that were chosen: "default/standard/gt-200k"
	// Reason says why there is no price; Cost is then unknown and no 0.
	Reason Reason `json:"reason,omitempty"`
	// Unpriced are dimensions that were used and have no rate: Cost lacks them.
	Unpriced []string `json:"unpriced,omitempty"`
	// Overflow says that a count or an amount is more than an int64 holds, which in
	// nano-dollars is nine billion dollars; it is then the largest that there is.
	Overflow bool `json:"overflow,omitempty"`
}

// Term is a line of a bill: Units times Rate times Factor, divided by Per, in dollars,
// rounded half up to a nano-dollar.
type Term struct {
	Dimension string `json:"dimension"` // "cache_read"
	Key       string `json:"key"`       // where the rate stands in the price list: "cache_read_input_token"
	Units     int64  `json:"units"`
	Per       int64  `json:"per"`    // units that Rate is for: 1, or 60000 milliseconds
	Rate      string `json:"rate"`   // dollars, exact: "0.00000125"
	Factor    string `json:"factor"` // multiplier of the integration, halved for a batch without prices: "1"
	Nano      int64  `json:"nano"`   // amount
}

// Priced says that Cost is all that the call cost.
func (b *Cost) Priced() bool { return b.MissingPrice() == "" }

// MissingPrice says in a word why Cost is not all that the call cost: its Reason, "no_rate:" with
// the first dimension that has none, or "overflow"; empty for one that is Priced.
func (b *Cost) MissingPrice() string {
	switch {
	case b.Reason != "":
		return string(b.Reason)
	case len(b.Unpriced) > 0:
		return "no_rate:" + b.Unpriced[0]
	case b.Overflow:
		return "overflow"
	}
	return ""
}

// Cost works out what a call costs. The terms are put into reuse, of which the capacity
// is taken and the content lost; with room for all terms nothing is allocated. Nil is
// fine.
func (t *RateCard) Cost(u *Units, reuse []Term) Cost {
	b := Cost{Version: t.version, Reason: t.reason, Terms: reuse[:0]}
	if !t.listed() {
		return b
	}
	p := t.billed(u)
	b.Plan = p.name
	counted := b.tokens(p, u)
	b.timed(p, u, counted)
	b.addUnits(p, u)
	if u.CacheHit {
		b.Cost, b.Saved = 0, b.Cost
	}
	return b
}

// tokens adds a term for each rate, and says whether there were any tokens.
func (b *Cost) tokens(p *plan, u *Units) (counted bool) {
	var totals [dimCount]int64
	for d, n := range u.tokens() {
		if n <= 0 {
			continue
		}
		counted = true
		index := p.rateDimension[d]
		if index < 0 {
			if dimensions[d].side != sideFree {
				b.Unpriced = append(b.Unpriced, dimensions[d].name)
			}
			continue
		}
		var fits bool
		if totals[index], fits = plus(totals[index], n); !fits {
			b.Overflow = true
		}
	}
	for d, n := range totals {
		if n > 0 {
			b.add(dimensions[d].name, p.tokens[d], n)
		}
	}
	return counted
}

// timed adds minutes and characters. A model whose price is in tokens may report them
// beside its tokens; alone they have no price there.
func (b *Cost) timed(p *plan, u *Units, counted bool) {
	if p.minute != nil || !counted {
		b.add("audio_ms", p.minute, u.AudioMilli)
	}
	if p.character != nil || !counted {
		b.add("characters", p.character, u.Characters)
	}
}

// addUnits adds all that is no token.
func (b *Cost) addUnits(p *plan, u *Units) {
	for i, r := range p.fixed {
		if r != nil {
			b.add(fixedNames[i], r, u.Requests)
		}
	}
	b.add("searches", p.search(u.SearchContext), u.Searches)
	for i := range u.Images {
		b.add("images", p.image(u.Images[i].Quality, u.Images[i].Size), u.Images[i].Count)
	}
	for i := range u.Other {
		b.add(u.Other[i].Name, p.unit(u.Other[i].Name), u.Other[i].Count)
	}
}

// add puts a term on the bill.
func (b *Cost) add(dimension string, r *rate, n int64) {
	if n <= 0 {
		return
	}
	if r == nil {
		if !slices.Contains(b.Unpriced, dimension) {
			b.Unpriced = append(b.Unpriced, dimension)
		}
		return
	}
	nano, fits := r.times(n, r.per)
	total, all := plus(b.Cost, nano)
	b.Cost, b.Overflow = total, b.Overflow || !fits || !all
	b.Terms = append(b.Terms, Term{dimension, r.key, n, r.per, r.list, r.factor, nano})
}
