package catalog

import (
	"math/big"
	"strings"
)

// rate is a price that is ready to be multiplied.
type rate struct {
	key    string
	list   string // dollars for per units: "0.0000025"
	factor string // "0.55"
	per    int64
	femto  int64
	product
}

// minuteMilli are the milliseconds of the minute that is the unit of transcriptions.
const minuteMilli = 60_000

// plan are the prices of one region, mode and context tier.
type plan struct {
	name      string // "default/batch/gt-200k"
	tokens    [dimCount]*rate
	at        [dimCount]int // the dimension whose rate tokens have; -1: none
	minute    *rate         // of transcriptions; nil: none
	character *rate         // of speech
	fixed     [2]*rate      // of a request and of its answer
	searches  [len(contexts)]*rate
	units     map[string]*rate
	images    map[string]map[string]*rate
}

// fixedNames are the dimensions of fixed costs, in the order of plan.fixed.
var fixedNames = [...]string{"fixed_request", "fixed_response"}

// contexts are how much a search looks at, and the units that price it, the first that is
// listed. Where nobody said how much, it is little: that is the default of the provider
// whose prices differ.
// Source: https://docs.perplexity.ai/guides/search-context-size-guide, read 2026-11.
var contexts = [...]struct {
	name  string
	units []string
}{
	{"", []string{"web_search", "search", "web_search_low_context"}},
	{"low", []string{"web_search_low_context", "web_search", "search"}},
	{"medium", []string{"web_search_medium_context", "web_search", "search"}},
	{"high", []string{"web_search_high_context", "web_search", "search"}},
}

// sheet is where a plan takes its prices from: what it says itself, and for what is no
// token what holds for all modes.
type sheet struct {
	own    *Rates
	half   *Rates // half the price of these for what own leaves out: a batch without prices
	shared *Rates // for what is no token
	fixed  *Fixed
	tree   *Formulas
}

// find is the price of a key and the tenths of it that are to be paid.
func (s *sheet) find(key string) (price *Price, tenths int64) {
	unit, isUnit := strings.CutPrefix(key, unitKey)
	of := func(r *Rates) *Price {
		switch {
		case r == nil:
			return nil
		case !isUnit:
			return r.token(key)
		}
		if p, ok := r.AdditionalUnits[unit]; ok {
			return &p
		}
		return nil
	}
	switch own, half, shared := of(s.own), of(s.half), of(s.shared); {
	case own != nil:
		return own, 10
	case half != nil && (!isUnit || key == longWrite):
		return half, 5
	case half != nil:
		return half, 10
	case isUnit && key != longWrite:
		return shared, 10
	}
	return nil, 0
}

// token is the rate of a name; nil when there is none.
func (r *Rates) token(name string) *Price {
	for i := range rateKeys {
		if rateKeys[i].name == name {
			return *rateKeys[i].of(r)
		}
	}
	return nil
}

// newPlan makes the prices of a sheet ready.
func newPlan(name string, s *sheet, a Adjustments) *plan {
	b := &builder{sheet: s, adjustments: a}
	p := &plan{name: name}
	form, byFormula := newFormula(s.tree)
	for d := range dimensions {
		for _, key := range dimensions[d].keys {
			if p.tokens[d] == nil {
				p.tokens[d] = b.rate(key, multiplierOne)
			}
		}
		if w, ok := form.tokens[d]; ok && byFormula {
			if r := b.rate(w.key, w.with); r != nil {
				p.tokens[d] = r
			}
		}
	}
	p.timed()
	p.fold()
	for i, c := range contexts {
		for _, unit := range c.units {
			if p.searches[i] == nil {
				p.searches[i] = b.rate(unitKey+unit, multiplierOne)
			}
		}
	}
	if f := s.fixed; f != nil {
		p.fixed = [...]*rate{b.make("fixed_cost.request", f.Request, 10, multiplierOne), b.make("fixed_cost.response", f.Response, 10, multiplierOne)}
	}
	p.units = b.units()
	with := int64(multiplierOne)
	if byFormula {
		with = form.images
	}
	p.images = b.images(with)
	return p
}

// timed tells prices of minutes and characters from those of tokens.
func (p *plan) timed() {
	if r := p.tokens[dimAudioInput]; r != nil && r.femto >= minuteFemto {
		minute := *r
		minute.per = minuteMilli
		p.minute, p.tokens[dimAudioInput] = &minute, nil
	}
	for _, d := range [...]int{dimOutput, dimAudioOutput} {
		if r := p.tokens[d]; r != nil && r.femto > 0 {
			return
		}
	}
	p.character = p.tokens[dimInput]
}

// fold finds for every dimension the one whose rate it has.
func (p *plan) fold() {
	for d := range dimensions {
		p.at[d] = -1
		for _, e := range append([]int{d}, dimensions[d].orElse...) {
			if p.tokens[e] != nil {
				p.at[d] = e
				break
			}
		}
	}
}

// image is the price of one; the narrower default counts before the wider.
func (p *plan) image(quality, size string) *rate {
	for _, q := range [...]string{quality, defaultModel} {
		for _, s := range [...]string{size, defaultModel} {
			if r := p.images[q][s]; r != nil {
				return r
			}
		}
	}
	return nil
}

// search is the price of one.
func (p *plan) search(context string) *rate {
	for i := range contexts {
		if contexts[i].name == context {
			return p.searches[i]
		}
	}
	return p.searches[0]
}

// builder makes rates of the prices of a sheet.
type builder struct {
	*sheet
	adjustments Adjustments
}

// rate is the rate of a key; nil when it has no price.
func (b *builder) rate(key string, with int64) *rate {
	p, tenths := b.find(key)
	return b.make(key, p, tenths, with)
}

// make is a rate of a price; with is what a formula multiplies it with.
func (b *builder) make(key string, p *Price, tenths, with int64) *rate {
	if p == nil {
		return nil
	}
	femto := p.femto()
	if with != multiplierOne {
		v := new(big.Int).Mul(big.NewInt(femto), big.NewInt(with))
		v.Add(v, big.NewInt(multiplierOne/2)).Quo(v, big.NewInt(multiplierOne))
		if femto = maxCents * femtoPerCent; v.IsInt64() {
			femto = min(femto, v.Int64())
		}
	}
	factor := b.adjustments.multiplier(key) * tenths
	return &rate{
		key: key, list: decimal(femto, dollarFemto), factor: decimal(factor, factorOne), per: 1,
		femto: femto, product: newProduct(femto, factor),
	}
}

// units are the additional units that have prices, which quantities such as
// "default_steps" are not.
func (b *builder) units() map[string]*rate {
	out := map[string]*rate{}
	for _, r := range [...]*Rates{b.own, b.half, b.shared} {
		if r == nil {
			continue
		}
		for name := range r.AdditionalUnits {
			if out[name] == nil && !strings.HasPrefix(name, "default_") {
				out[name] = b.rate(unitKey+name, multiplierOne)
			}
		}
	}
	return out
}

// images are the prices of the first list that has any.
func (b *builder) images(with int64) map[string]map[string]*rate {
	from, tenths := b.shared, int64(10)
	switch {
	case b.own != nil && len(b.own.Image) > 0:
		from = b.own
	case b.half != nil && len(b.half.Image) > 0:
		from, tenths = b.half, 5
	}
	out := map[string]map[string]*rate{}
	if from == nil {
		return out
	}
	for quality, sizes := range from.Image {
		out[quality] = map[string]*rate{}
		for size, p := range sizes {
			out[quality][size] = b.make("image."+quality+"."+size, &p, tenths, with)
		}
	}
	return out
}
