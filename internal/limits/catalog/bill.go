package catalog

import "slices"

// Cost is the cost of a call in nano-dollars (10^-9), and how it is calculated. The amounts of
// the terms add up to Cost plus Saved, unless Overflow is set.
type Cost struct {
	Cost    int64  `json:"cost_nano"`
	Saved   int64  `json:"saved_nano,omitempty"` // what a response from the gateway's cache would have cost
	Terms   []Term `json:"terms,omitempty"`
	Version string `json:"price_version,omitempty"` // see RateCard.Version
	Plan    string `json:"plan,omitempty"`          // the prices that apply: "default/standard/gt-200k"
	// Reason is why there is no price. Cost is then unknown, not 0.
	Reason Reason `json:"reason,omitempty"`
	// Unpriced lists dimensions that were used and do not have a rate. Cost does not include
	// them.
	Unpriced []string `json:"unpriced,omitempty"`
	// Overflow is set if a count or an amount exceeds an int64, which in nano-dollars is nine
	// billion dollars. The value is then the largest int64.
	Overflow bool `json:"overflow,omitempty"`
}

// Term is one item of a Cost: Units times Rate times Factor, divided by Per, in dollars,
// rounded half up to a nano-dollar.
type Term struct {
	Dimension string `json:"dimension"` // "cache_read"
	Key       string `json:"key"`       // name of the rate in the price list: "cache_read_input_token"
	Units     int64  `json:"units"`
	Per       int64  `json:"per"`    // units that Rate is for: 1, or 60000 milliseconds
	Rate      string `json:"rate"`   // dollars, exact: "0.00000125"
	Factor    string `json:"factor"` // multiplier of the integration, halved for a batch without prices: "1"
	Nano      int64  `json:"nano"`   // amount
}

// Priced reports whether Cost is the complete cost of the call.
func (b *Cost) Priced() bool { return b.MissingPrice() == "" }

// MissingPrice returns why Cost is not the complete cost of the call: its Reason, "no_rate:"
// with the first dimension without a rate, or "overflow". It is empty if the Cost is Priced.
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

// Cost calculates the cost of a call. The terms overwrite reuse, which may be nil; nothing is
// allocated if it has capacity for all terms.
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

// tokens adds a term for each rate, and reports whether there were any tokens.
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

// timed adds minutes and characters. If a model is priced by tokens, they need no price when
// tokens are reported too; without tokens they are unpriced.
func (b *Cost) timed(p *plan, u *Units, counted bool) {
	if p.minute != nil || !counted {
		b.add("audio_ms", p.minute, u.AudioMilli)
	}
	if p.character != nil || !counted {
		b.add("characters", p.character, u.Characters)
	}
}

// addUnits adds everything that is not a token.
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

// add adds a term.
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
