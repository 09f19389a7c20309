package catalog

import (
	"math/big"
	"strings"
)

// rate is a compiled price.
type rate struct {
	key    string
	list   string // dollars for per units: "0.0000025"
	factor string // "0.55"
	per    int64
	femto  int64
	product
}

// minuteMilli is the number of milliseconds in a minute, the unit of transcriptions.
const minuteMilli = 60_000

// rateSource contains the prices that a plan is compiled from: its own, and shared ones for
// units other than tokens that apply to all modes.
type rateSource struct {
	direct *Rates
	halved *Rates // half of these prices applies where direct has none: a batch without prices
	shared *Rates // for units other than tokens
	fixed  *Fixed
	tree   *Formulas
	tuned  *Finetune
}

// find returns the price of a key and the tenths of it to be paid. A cache write for an hour
// counts as tokens, although it is listed among the additional units.
func (s *rateSource) find(key string) (price *Price, tenths int64) {
	unit, isUnit := strings.CutPrefix(key, unitKey)
	lookup := func(r *Rates) *Price {
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
	switch direct, halved, shared := lookup(s.direct), lookup(s.halved), lookup(s.shared); {
	case direct != nil:
		return direct, 10
	case halved != nil && (!isUnit || key == longWrite):
		return halved, 5
	case halved != nil:
		return halved, 10
	case isUnit && key != longWrite:
		return shared, 10
	}
	return nil, 0
}

// token returns the rate with a name; nil if it has none.
func (r *Rates) token(name string) *Price {
	if field := r.rateField(name); field != nil {
		return *field
	}
	return nil
}

// rateField returns the field of the rate with a name; nil if the name is unknown.
func (r *Rates) rateField(name string) **Price {
	for i := range rateKeys {
		if rateKeys[i].name == name {
			return rateKeys[i].field(r)
		}
	}
	return nil
}

// builder builds rates from the prices of a rateSource.
type builder struct {
	*rateSource
	adjustments Adjustments
}

// rate returns the rate of a key; nil if it does not have a price.
func (b *builder) rate(key string, with int64) *rate {
	p, tenths := b.find(key)
	return b.make(key, p, tenths, with)
}

// make returns the rate of a price. with is the multiplier of a formula.
func (b *builder) make(key string, p *Price, tenths, with int64) *rate {
	if p == nil {
		return nil
	}
	femto := p.femtoDollars()
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

// units returns the additional units that have prices. Quantities such as "default_steps" do
// not.
func (b *builder) units() map[string]*rate {
	out := map[string]*rate{}
	for _, r := range [...]*Rates{b.direct, b.halved, b.shared} {
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

// images returns the prices of the first list that has any.
func (b *builder) images(with int64) map[string]map[string]*rate {
	from, tenths := b.shared, int64(10)
	switch {
	case b.direct != nil && len(b.direct.Image) > 0:
		from = b.direct
	case b.halved != nil && len(b.halved.Image) > 0:
		from, tenths = b.halved, 5
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
