package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// PriceOverrides are the prices of an integration: multiplied list prices, and separate prices
// for some models. They are built once, when the integration changes, and belong to the
// snapshot that serves requests, because they cache the RateCards that they derive. Nil means
// the list prices. It is safe for concurrent use.
type PriceOverrides struct {
	by            Adjustments
	models        map[string]*override
	overrideCache overrideCache
	free          bool // all calls cost nothing
}

// Override contains the settings of an integration for a model.
type Override struct {
	// Base is the model of the price list whose price applies where Rates is silent, such as
	// the model from which it was tuned. Empty means the model of the same name.
	Base string
	// Rates replace those of the list, one by one, in all regions and modes. A batch costs
	// half. Nil replaces nothing.
	Rates *Rates
}

type override struct {
	Override
	overrideCache overrideCache
}

// NewAgreement builds PriceOverrides from adjustments and overrides by model name.
func NewAgreement(a Adjustments, models map[string]Override) *PriceOverrides {
	out := &PriceOverrides{by: a, models: make(map[string]*override, len(models))}
	for name, o := range models {
		out.models[name] = &override{Override: o}
	}
	return out
}

// base returns the model of the list whose price a model of the integration has.
func (a *PriceOverrides) base(model string) string {
	if a != nil {
		if o := a.models[model]; o != nil && o.Base != "" {
			return o.Base
		}
	}
	return model
}

// prices reports whether the integration sets its own prices for a model.
func (a *PriceOverrides) prices(model string) bool {
	return a != nil && (a.free || a.models[model] != nil && a.models[model].Rates != nil)
}

// rateCardFor returns the RateCard of a model, given the one of the list.
func (a *PriceOverrides) rateCardFor(model string, list *RateCard) *RateCard {
	if a == nil {
		return list
	}
	if a.free {
		return free
	}
	if o := a.models[model]; o != nil && o.Rates != nil {
		return o.overrideCache.getOrDerive(list, func() *RateCard { return list.replaced(o.Rates, a.by) })
	}
	if len(a.by.multipliers) == 0 {
		return list
	}
	return a.overrideCache.getOrDerive(list, func() *RateCard { return list.Adjust(a.by) })
}

// replaced returns the RateCard with rates in place of its own. It drops the prices of
// regions, modes and batches, because they are not part of the agreed prices.
func (t *RateCard) replaced(rates *Rates, a Adjustments) *RateCard {
	var base Pricing
	source := "integration"
	if t.listed() && t.entry.Pricing != nil {
		base, source = *t.entry.Pricing, "integration, "+t.source
	}
	var full Rates
	if base.PayAsYouGo != nil {
		full = *base.PayAsYouGo
	}
	for i := range rateKeys {
		if p := *rateKeys[i].field(rates); p != nil {
			*rateKeys[i].field(&full) = p
		}
	}
	full.dropShadowedRates(rates)
	base.PayAsYouGo, base.Batch = &full, nil
	return newTariff(source, Entry{Pricing: &base}, a)
}

// dropShadowedRates removes rates that were not agreed and take precedence over an agreed rate
// for the same tokens. An agreed price of all input then applies although the list has a price
// of text input.
func (r *Rates) dropShadowedRates(agreed *Rates) {
	for i := range dimensions {
		covers := false
		for _, name := range slices.Backward(dimensions[i].keys) {
			field := r.rateField(name)
			switch {
			case field == nil: // an additional unit, which cannot be agreed
			case agreed.token(name) != nil:
				covers = true
			case covers:
				*field = nil
			}
		}
	}
}

// maxMemo is the maximum number of cached RateCards. Renewed lists leave old ones in the
// cache.
const maxMemo = 4096

// overrideCache caches what was derived from a RateCard. Reading it neither locks nor
// allocates.
type overrideCache struct {
	made sync.Map // *RateCard by *RateCard
	size atomic.Int64
}

func (m *overrideCache) getOrDerive(list *RateCard, derive func() *RateCard) *RateCard {
	if got, ok := m.made.Load(list); ok {
		return got.(*RateCard)
	}
	got, known := m.made.LoadOrStore(list, derive())
	if !known && m.size.Add(1) > maxMemo {
		m.made.Clear()
		m.size.Store(0)
	}
	return got.(*RateCard)
}

// ReadOverride reads pricing_config of a model of an integration. Prices are in dollars per
// million tokens:
//
//	{"type": "static", "pay_as_you_go": {"request_token": {"price": 2.5}, "response_token": {"price": 10}}}
//
// Null and an empty object override nothing. The error is fault.InvalidParameter for a field
// that is unknown or not a price of tokens, and for a price that is negative or higher than
// 5,000 dollars.
// Source: contract/identity-and-governance.yaml, PricingConfig.
func ReadOverride(base string, raw []byte) (Override, error) {
	out := Override{Base: base}
	members, err := object(raw, "pricing_config")
	if err != nil {
		return out, err
	}
	for name, v := range members {
		switch {
		case name == "pay_as_you_go":
		case name != "type":
			return out, unknownMember("pricing_config." + name)
		case string(v) != `"static"`:
			return out, invalid("pricing_config.type", `pricing_config.type must be "static"`)
		}
	}
	rates, err := object(members["pay_as_you_go"], "pricing_config.pay_as_you_go")
	if err != nil || len(rates) == 0 {
		return out, err
	}
	out.Rates = new(Rates)
	for name, v := range rates {
		if err := out.Rates.read(name, v); err != nil {
			return Override{}, err
		}
	}
	return out, nil
}

// read reads the price of a million tokens.
func (r *Rates) read(name string, raw json.RawMessage) error {
	path := "pricing_config.pay_as_you_go." + name
	for i := range rateKeys {
		if rateKeys[i].name != name {
			continue
		}
		var p *Price
		err := json.Unmarshal(raw, &p)
		if err == nil && p != nil {
			err = p.perMillion()
		}
		if err == nil {
			err = p.check(name, maxTokenCents)
		}
		if err != nil {
			return invalid(path, fmt.Sprintf("%s: must be a price in dollars per million tokens, from 0 to 5000: %v", path, err))
		}
		*rateKeys[i].field(r) = p
		return nil
	}
	return unknownMember(path)
}

// perMillion converts dollars per million tokens to cents per token. It moves the decimal
// point by four digits, which is exact.
func (p *Price) perMillion() (err error) {
	p.Price, err = strconv.ParseFloat(strconv.FormatFloat(p.Price, 'f', -1, 64)+"e-4", 64)
	return err
}
