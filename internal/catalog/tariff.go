package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// RateCard is what the calls of a model cost, ready for the path of a request. It never
// changes and is safe for concurrent use. Make one with NewTariff, or take it of a Book.
type RateCard struct {
	version string
	reason  Reason
	free    bool // all calls cost nothing
	plain   modes
	regions []region
	offPeak *offPeak // nil: one price at all hours

	// What it was made of, for Adjust and Override.
	source string
	entry  Entry
	by     Adjustments
}

// Reason says why a call has no price, in one word of a closed set. The zero value says
// that it has one.
type Reason string

// The reasons.
const (
	UnknownProvider Reason = "unknown_provider" // nobody has a price list of it
	UnknownModel    Reason = "unknown_model"    // it is not in the list of its provider
	NoPrice         Reason = "no_price"         // it is, without a price
	ForeignCurrency Reason = "foreign_currency" // its price is not in US dollars
	NotLoaded       Reason = "not_loaded"       // the list of its provider is being read for the first time
)

var reasons = [...]Reason{UnknownProvider, UnknownModel, NoPrice, ForeignCurrency, NotLoaded}

// Reasons are all of them.
func Reasons() []Reason { return slices.Clone(reasons[:]) }

// region are the plans of a region, or of several.
type region struct {
	names []string
	modes modes
}

// modes are the plans of the five modes, in the order of executions.
type modes [len(executions)]tiers

var executions = [...]Execution{Standard, Batch, Flex, Priority, Fast}

// tiers are plans by the size of the input, the highest first; the last holds for all.
type tiers []tier

type tier struct {
	aboveTokens int64
	plan        *plan
}

// NewTariff makes a Tariff of an entry whose Pricing has all that it inherits. The
// source, such as "built-in", is part of the version. An entry of a checked file never
// fails; others fail with fault.InvalidParameter for a price that cannot be one.
func NewTariff(source string, e Entry, a Adjustments) (*RateCard, error) {
	if err := e.check(); err != nil {
		return nil, invalid("pricing_config", err.Error())
	}
	return newTariff(source, e, a), nil
}

func newTariff(source string, e Entry, a Adjustments) *RateCard {
	t := &RateCard{source: source, entry: e, by: a, version: version(source, e, a)}
	if e.Pricing == nil && e.Custom == nil {
		t.reason = NoPrice
		return t
	}
	var base Pricing
	if e.Pricing != nil {
		base = *e.Pricing
	}
	if base.Currency != "" && base.Currency != "USD" {
		t.reason = ForeignCurrency
		return t
	}
	c := compiler{base: base, by: a}
	c.standard, c.batch = c.plan("plain", base, nil, false), c.plan("plain", base, base.Batch, true)
	if e.Custom != nil {
		c.steps, _ = thresholds(e.Custom.ContextTiers) // checked when it was read
		for names, r := range e.Custom.Regions {
			t.regions = append(t.regions, region{split(names), c.region(names, r)})
		}
		t.offPeak = c.offPeak(e.Custom.OffPeak)
		slices.SortFunc(t.regions, func(a, b region) int { return slices.Compare(a.names, b.names) })
	}
	t.plain = c.region("", Region{})
	return t
}

// unpriced is the Tariff of what has no price.
func unpriced(r Reason) *RateCard { return &RateCard{reason: r} }

// Reason says why there is no price; empty: there is one.
func (t *RateCard) Reason() Reason { return t.reason }

// Version is sixteen hexadecimal digits that stand for the prices, where they come from
// and their adjustments: two bills of one version were made at the same prices. It is
// empty where there never were any.
func (t *RateCard) Version() string { return t.version }

// PricesAudioInputByToken reports whether speech that is transcribed is priced by tokens rather than by
// its length.
func (t *RateCard) PricesAudioInputByToken() bool {
	return t.listed() && t.plan("", Standard, 0).minute == nil
}

// PricesSpeechByToken reports whether speech that is made is priced by tokens rather than by the
// characters of its text.
func (t *RateCard) PricesSpeechByToken() bool {
	return t.listed() && t.plan("", Standard, 0).character == nil
}

// HasPrice reports whether an additional unit has a price: "file_search".
func (t *RateCard) HasPrice(unit string) bool {
	return t.listed() && t.plan("", Standard, 0).unit(unit) != nil
}

// listed reports whether there are plans.
func (t *RateCard) listed() bool { return t.reason == "" && !t.free }

// Adjust is the Tariff at multiplied prices.
func (t *RateCard) Adjust(a Adjustments) *RateCard {
	if t.version == "" || t.free {
		return t
	}
	return newTariff(t.source, t.entry, a)
}

func version(source string, e Entry, a Adjustments) string {
	if len(a.multipliers) == 0 {
		a.multipliers = nil // nothing is adjusted, however that was said
	}
	text, err := json.Marshal([]any{source, e, a.multipliers})
	if err != nil {
		panic(fmt.Sprintf("catalog: cannot encode prices: %v", err))
	}
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:8])
}

// plan chooses the prices of a call, at peak hours where these differ.
func (t *RateCard) plan(region string, mode Execution, size int64) *plan {
	return t.regionPrices(region).plan(mode, size)
}

// billed chooses the prices of a call that was made, by its time, too.
func (t *RateCard) billed(u *Units) *plan {
	if t.offPeak.applies(u.StartedAt) && t.regionModes(u.Region) == nil {
		return t.offPeak.modes.plan(u.Execution, u.size())
	}
	return t.plan(u.Region, u.Execution, u.size())
}

// plan chooses by mode and size.
func (m *modes) plan(mode Execution, size int64) *plan {
	candidates := m.tiersFor(mode)
	for i := range candidates {
		if size > candidates[i].aboveTokens {
			return candidates[i].plan
		}
	}
	return candidates[len(candidates)-1].plan
}

// tiersFor are the prices of a mode; one that is not known is Standard.
func (m *modes) tiersFor(mode Execution) tiers { return m[max(0, slices.Index(executions[:], mode))] }

// regionPrices are the prices of a region: its own, else those of the default region, else the plain
// ones.
func (t *RateCard) regionPrices(name string) *modes {
	for _, regionName := range [...]string{name, defaultModel} {
		if found := t.regionModes(regionName); found != nil {
			return found
		}
	}
	return &t.plain
}

// regionModes are the prices that a region has of its own; nil for none.
func (t *RateCard) regionModes(name string) *modes {
	for i := range t.regions {
		if slices.Contains(t.regions[i].names, name) {
			return &t.regions[i].modes
		}
	}
	return nil
}

// split is a list of regions: "us, eu".
func split(names string) []string {
	list := strings.Split(names, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}
