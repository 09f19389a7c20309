package catalog_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/limits/catalog"
)

// exceptions are broken rules that are facts, by provider, model and rule, with the
// reason.
var exceptions = map[string]string{
	"openai omni-moderation-latest, input":                                    "moderation is free",
	"openai omni-moderation-latest, price":                                    "moderation is free",
	"openai omni-moderation-2024-09-26, input":                                "moderation is free",
	"openai omni-moderation-2024-09-26, price":                                "moderation is free",
	"minimax MiniMax-M2.7-highspeed, written not below input":                 "the cache costs what it does for the slower model, which is half as dear",
	"minimax MiniMax-M2.5-highspeed, written not below input":                 "the cache costs what it does for the slower model, which is half as dear",
	"workers-ai @cf/meta/llama-guard-3-8b, output not below a tenth of input": "it answers with one word, and the price list says so",
}

// subject is what a rule is held against.
type subject struct {
	t     *testing.T
	model string // "openai gpt-4o"
	where string // "default batch lte-200k"; empty: the price where nothing is special
	kind  *catalog.Type
	met   map[string]bool // the exceptions that were met
}

// breaks reports a broken rule, unless that is a fact.
func (s subject) breaks(rule, format string, args ...any) {
	s.t.Helper()
	name := s.model + ", " + rule
	if exceptions[name] == "" {
		s.t.Errorf("%s: %s %s", name, s.where, fmt.Sprintf(format, args...))
	}
	s.met[name] = true
}

// Nothing that is built in is off by a slip between dollars and cents, thousands and
// millions, in and out, and every rate is in the unit that its model is billed by.
func TestBuiltinPricesArePlausible(t *testing.T) {
	t.Parallel()
	c := newCatalog(&clock{}, catalog.Builtin())
	met := map[string]bool{}
	for _, f := range builtinFiles(t, catalog.PricingFiles) {
		if _, ok := f.entries["default"]; !ok {
			t.Errorf("%s has no default", f)
		}
		for model, raw := range f.entries {
			var e catalog.Entry
			if err := strictly(raw, &e); err != nil || e.Pricing == nil || e.Pricing.PayAsYouGo == nil {
				t.Errorf("%s %s: %v, or there is no price", f, model, err)
				continue
			}
			if model == "default" {
				continue
			}
			g, err := c.General(t.Context(), f.provider, model)
			if err != nil || g.Type == nil {
				continue // another test says so
			}
			s := subject{t: t, model: f.provider + " " + model, kind: g.Type, met: met}
			s.rates(e.Pricing.PayAsYouGo)
			s.custom(e)
		}
	}
	for name := range exceptions {
		if !met[name] {
			t.Errorf("%s: the exception is none any more", name)
		}
	}
}

// perToken are the rates of tokens and characters.
func perToken(r *catalog.Rates) map[string]*catalog.Price {
	return map[string]*catalog.Price{
		"request": r.RequestToken, "response": r.ResponseToken, "cache read": r.CacheReadInput, "cache write": r.CacheWriteInput,
		"request audio": r.RequestAudioToken, "response audio": r.ResponseAudioToken, "cache read audio": r.CacheReadAudioInput,
		"request image": r.RequestImageToken, "response image": r.ResponseImageToken, "cache read image": r.CacheReadImageInput,
		"reasoning": r.ReasoningToken,
	}
}

// known are the units that may be counted beside tokens.
// Source: contract/content-and-observability.md 6.4, and of pages, citations and what tools count ours.
var known = []string{
	"cache_write_1h", "citation_tokens", "web_search", "web_search_low_context", "web_search_medium_context", "web_search_high_context",
	"file_search", "search", "x_search", "input_image", "video_seconds", "video_duration_seconds_1024_1792", "video_duration_seconds_1792_1024",
	"pages", "annotated_pages", "web_search_preview", "code_execution", "code_execution_4g", "code_execution_16g", "code_execution_64g",
	"fetch_url", "people_search", "finance_search", "image_search", "attachment_search", "sandbox",
}

// rates holds every rule against what a call costs in one mode and tier.
func (s subject) rates(r *catalog.Rates) {
	s.t.Helper()
	rates := perToken(r)
	priced := len(r.Image) > 0 || len(r.AdditionalUnits) > 0
	for _, name := range sortedKeys(rates) {
		if p := rates[name]; p != nil {
			priced = priced || p.Price > 0
			s.unit(r, name, p.Price)
		}
	}
	if !priced {
		s.breaks("price", "it is free")
	}
	s.relations(r)
	for _, name := range sortedKeys(r.AdditionalUnits) {
		cents := r.AdditionalUnits[name].Price
		switch {
		case !slices.Contains(known, name):
			s.breaks("unit", "nobody counts %s", name)
		case name == "cache_write_1h" || name == "citation_tokens":
			s.checkRange("unit", cents*perMillion, 0.1, 200, "dollars for a million "+name)
		case strings.HasPrefix(name, catalog.CodeExecution):
			s.checkRange("unit", cents, 0.05, 200, "cents for "+name)
		default:
			s.checkRange("unit", cents, 0.005, 100, "cents for "+name)
		}
	}
	for quality, sizes := range r.Image {
		for size, p := range sizes {
			s.checkRange("image", p.Price, 0.01, 200, "cents for an image of "+quality+" "+size)
		}
		if _, ok := sizes["default"]; !ok {
			s.breaks("image", "%s has no price where the size is another", quality)
		}
	}
	if _, ok := r.Image["default"]; len(r.Image) > 0 && !ok {
		s.breaks("image", "there is no price where the quality is another")
	}
}

// unit is the range of a rate by what its model is billed by.
func (s subject) unit(r *catalog.Rates, name string, cents float64) {
	s.t.Helper()
	supports := func(what string) bool { return s.kind.Primary == "audio" && slices.Contains(s.kind.Supported, what) }
	switch {
	case name == "request audio" && supports("transcription") && r.RequestToken == nil:
		s.checkRange("minute", cents, 0.015, 10, "cents for a minute")
	case name == "request" && supports("speech") && r.ResponseAudioToken == nil:
		s.checkRange("character", cents, 0.0001, 0.05, "cents for a character")
	case s.kind.Primary == "embedding", s.kind.Primary == "rerank":
		s.checkRange("embedding", cents*perMillion, 0.001, 10, "dollars for a million")
	case name == "request":
		s.checkRange("input", cents*perMillion, 0.001, 200, "dollars for a million")
	default:
		s.checkRange("output", cents*perMillion, 0.0001, 600, "dollars for a million of "+name)
	}
}

func (s subject) checkRange(rule string, v, low, high float64, what string) {
	s.t.Helper()
	if v < low || v > high {
		s.breaks(rule, "%v %s", v, what)
	}
}

// relations are what a rate is to another.
func (s subject) relations(r *catalog.Rates) {
	s.t.Helper()
	const ease = 1e-12 // for what decimals become as binary fractions
	for _, x := range []struct {
		rule       string
		less, more *catalog.Price
		by         float64 // less costs at most by times what more does
	}{
		{"output not below a tenth of input", r.RequestToken, r.ResponseToken, 10},
		{"cached not above input", r.CacheReadInput, r.RequestToken, 1},
		{"cached audio not above audio", r.CacheReadAudioInput, r.RequestAudioToken, 1},
		{"cached image not above image", r.CacheReadImageInput, r.RequestImageToken, 1},
		{"written not below input", r.RequestToken, r.CacheWriteInput, 1},
		{"thinking not above twenty times output", r.ReasoningToken, r.ResponseToken, 20},
	} {
		if x.less != nil && x.more != nil && x.less.Price > x.more.Price*x.by+ease {
			s.breaks(x.rule, "%v against %v cents", x.less.Price, x.more.Price)
		}
	}
	if hour, ok := r.AdditionalUnits["cache_write_1h"]; ok && (r.CacheWriteInput == nil || hour.Price <= r.CacheWriteInput.Price) {
		s.breaks("written for longer is dearer", "%v cents for an hour", hour.Price)
	}
}

// custom holds the rules against all that depends on region, mode and size, and compares
// it with what it departs from.
func (s subject) custom(e catalog.Entry) {
	s.t.Helper()
	if e.Custom == nil {
		return
	}
	for threshold := range e.Custom.ContextTiers {
		if n, err := strconv.ParseInt(threshold, 10, 64); err != nil || n != 0 && (n < 30_000 || n > 1_000_000) {
			s.breaks("tier", "begins at %s tokens", threshold)
		}
	}
	if _, ok := e.Custom.ContextTiers["0"]; len(e.Custom.ContextTiers) > 0 && !ok {
		s.breaks("tier", "none begins at 0")
	}
	for _, region := range sortedKeys(e.Custom.Regions) {
		modes := e.Custom.Regions[region].Modes
		for _, mode := range sortedKeys(modes) {
			scoped := s
			scoped.where = region + " " + mode
			m := modes[mode]
			if m.Pricing != nil {
				scoped.rates(m.Pricing.PayAsYouGo)
				scoped.departs(mode, e.Pricing.PayAsYouGo, m.Pricing.PayAsYouGo)
			}
			scoped.tiers(e, mode, m)
		}
	}
}

func (s subject) tiers(e catalog.Entry, mode string, m catalog.Mode) {
	s.t.Helper()
	if len(m.Tiers) == 0 {
		return
	}
	if len(m.Tiers) != len(e.Custom.ContextTiers) {
		s.breaks("tier", "%d prices for %d tiers", len(m.Tiers), len(e.Custom.ContextTiers))
	}
	first := m.Tiers[e.Custom.ContextTiers["0"]].Pricing
	for threshold, name := range e.Custom.ContextTiers {
		tier, ok := m.Tiers[name]
		if !ok || tier.Pricing == nil || first == nil {
			s.breaks("tier", "%s has no price", name)
			continue
		}
		scoped := s
		scoped.where += " " + name
		scoped.rates(tier.Pricing.PayAsYouGo)
		if threshold == "0" {
			scoped.departs(mode, e.Pricing.PayAsYouGo, tier.Pricing.PayAsYouGo)
		} else {
			scoped.departs("long", first.PayAsYouGo, tier.Pricing.PayAsYouGo)
		}
	}
}

// departs compares two prices of a model: waiting is cheaper, haste and length are dearer,
// and a region is never below the price where nothing is said of it.
func (s subject) departs(how string, from, to *catalog.Rates) {
	s.t.Helper()
	a, b := perToken(from), perToken(to)
	for _, name := range sortedKeys(a) {
		if (a[name] == nil) != (b[name] == nil) {
			if how != "priority" { // it has no price for the cache of some
				s.breaks("same rates", "%s is priced on one side", name)
			}
			continue
		}
		if a[name] == nil || a[name].Price == b[name].Price {
			continue
		}
		cheaper := b[name].Price < a[name].Price
		switch how {
		case "batch", "flex":
			if !cheaper {
				s.breaks("mode", "%s is dearer", name)
			}
		case "standard", "priority", "fast", "long":
			if cheaper {
				s.breaks("mode", "%s is cheaper", name)
			}
		default:
			s.breaks("mode", "there is no %s", how)
		}
	}
}
