package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// RateCard contains the prices of the calls of a model, compiled for request handling. It is
// immutable and safe for concurrent use. NewTariff and PriceList.Find return one.
type RateCard struct {
	version string
	reason  Reason
	free    bool // all calls cost nothing
	plain   modes
	regions []region
	offPeak *offPeak // nil: one price at all hours

	// The sources from which it was built, for Adjust and PriceOverrides.
	source string
	entry  Entry
	by     Adjustments
}

// Reason is why a call does not have a price, one of a closed set. The zero value means that
// it has one.
type Reason string

// These are the reasons.
const (
	UnknownProvider Reason = "unknown_provider" // there is no price list for it
	UnknownModel    Reason = "unknown_model"    // not in the list of its provider
	NoPrice         Reason = "no_price"         // in the list, without a price
	ForeignCurrency Reason = "foreign_currency" // its price is not in US dollars
	NotLoaded       Reason = "not_loaded"       // the list of its provider is being read for the first time
)

var reasons = [...]Reason{UnknownProvider, UnknownModel, NoPrice, ForeignCurrency, NotLoaded}

// Reasons returns all reasons.
func Reasons() []Reason { return slices.Clone(reasons[:]) }

// region contains the plans of one or more regions.
type region struct {
	names []string
	modes modes
}

// modes contains the plans of the five modes, in the order of executions.
type modes [len(executions)]tiers

var executions = [...]Execution{Standard, Batch, Flex, Priority, Fast}

// tiers contains plans by the size of the input, the highest first. The last applies to all
// sizes.
type tiers []tier

type tier struct {
	aboveTokens int64
	plan        *plan
}

// NewTariff returns the RateCard of an entry whose Pricing includes all that it inherits. The
// source, such as "built-in", is part of the version. An entry of a checked file never fails;
// others fail with fault.InvalidParameter for an invalid price.
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

// unpriced returns the RateCard of a model without a price.
func unpriced(r Reason) *RateCard { return &RateCard{reason: r} }

// Reason returns why there is no price; empty if there is one.
func (t *RateCard) Reason() Reason { return t.reason }

// Version returns sixteen hexadecimal digits that identify the prices, their source and their
// adjustments: two costs with one version were calculated at the same prices. It is empty if
// there never were prices.
func (t *RateCard) Version() string { return t.version }

// PricesAudioInputByToken reports whether transcribed audio is priced by tokens rather than by
// its length.
func (t *RateCard) PricesAudioInputByToken() bool {
	return t.listed() && t.plan("", Standard, 0).minute == nil
}

// PricesSpeechByToken reports whether generated speech is priced by tokens rather than by the
// characters of its text.
func (t *RateCard) PricesSpeechByToken() bool {
	return t.listed() && t.plan("", Standard, 0).character == nil
}

// HasPrice reports whether an additional unit such as "file_search" has a price.
func (t *RateCard) HasPrice(unit string) bool {
	return t.listed() && t.plan("", Standard, 0).unit(unit) != nil
}

// listed reports whether there are plans.
func (t *RateCard) listed() bool { return t.reason == "" && !t.free }

// Adjust returns the RateCard with multiplied prices.
func (t *RateCard) Adjust(a Adjustments) *RateCard {
	if t.version == "" || t.free {
		return t
	}
	return newTariff(t.source, t.entry, a)
}

func version(source string, e Entry, a Adjustments) string {
	if len(a.multipliers) == 0 {
		a.multipliers = nil // nil and empty mean the same
	}
	text, err := json.Marshal([]any{source, e, a.multipliers})
	if err != nil {
		panic(fmt.Sprintf("catalog: cannot encode prices: %v", err))
	}
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:8])
}

// plan returns the prices of a call, at peak hours if these differ.
func (t *RateCard) plan(region string, mode Execution, size int64) *plan {
	return t.regionPrices(region).plan(mode, size)
}

// billed returns the prices of a call that was made, also by its time.
func (t *RateCard) billed(u *Units) *plan {
	if t.offPeak.applies(u.StartedAt) && t.regionModes(u.Region) == nil {
		return t.offPeak.modes.plan(u.Execution, u.size())
	}
	return t.plan(u.Region, u.Execution, u.size())
}

// plan selects a plan by mode and size.
func (m *modes) plan(mode Execution, size int64) *plan {
	candidates := m.tiersFor(mode)
	for i := range candidates {
		if size > candidates[i].aboveTokens {
			return candidates[i].plan
		}
	}
	return candidates[len(candidates)-1].plan
}

// tiersFor returns the prices of a mode. An unknown mode is Standard.
func (m *modes) tiersFor(mode Execution) tiers { return m[max(0, slices.Index(executions[:], mode))] }

// regionPrices returns the prices of a region: its own, else those of the default region, else
// the plain ones.
func (t *RateCard) regionPrices(name string) *modes {
	for _, regionName := range [...]string{name, defaultModel} {
		if found := t.regionModes(regionName); found != nil {
			return found
		}
	}
	return &t.plain
}

// regionModes returns the prices that a region has of its own; nil for none.
func (t *RateCard) regionModes(name string) *modes {
	for i := range t.regions {
		if slices.Contains(t.regions[i].names, name) {
			return &t.regions[i].modes
		}
	}
	return nil
}

// split splits a list of regions: "us, eu".
func split(names string) []string {
	list := strings.Split(names, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}
