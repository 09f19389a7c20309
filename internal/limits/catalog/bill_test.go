package catalog_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
)

// tariffs are all models of the vectors, by provider and name.
func tariffs(t *testing.T) map[string]*catalog.RateCard {
	t.Helper()
	v := readVectors(t)
	c := v.catalog()
	out := map[string]*catalog.RateCard{}
	for _, x := range v.Cases {
		out[x.Pricing+" "+x.Model] = c.Tariff(t.Context(), x.Pricing, x.Model)
	}
	return out
}

// counts draws a number of units, often a small one and sometimes one beyond all reason.
func counts() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 10), rapid.Int64Range(0, 400_000), rapid.Int64Range(0, 1e12), rapid.Int64Range(math.MinInt64, math.MaxInt64))
}

func drawUnits(t *rapid.T) catalog.Units {
	n := func(name string) int64 { return counts().Draw(t, name) }
	return catalog.Units{
		Region:    rapid.SampledFrom([]string{"", "us", "eu", "jp", "mars", "empty"}).Draw(t, "region"),
		Execution: rapid.SampledFrom([]catalog.Execution{"", catalog.Standard, catalog.Batch, catalog.Flex, catalog.Priority, catalog.Fast, "auto"}).Draw(t, "mode"),
		Input:     n("input"), CacheRead: n("cache read"), CacheWrite5m: n("write 5m"), CacheWrite1h: n("write 1h"),
		Output: n("output"), Reasoning: n("reasoning"), Citation: n("citation"),
		AudioInput: n("audio in"), AudioCacheRead: n("cached audio"), AudioOutput: n("audio out"),
		ImageInput: n("image in"), ImageCacheRead: n("cached images"), ImageOutput: n("image out"),
		AudioMilli: n("milliseconds"), Characters: n("characters"), Requests: n("requests"), Searches: n("searches"),
		SearchContext: rapid.SampledFrom([]string{"", "low", "medium", "high", "vast"}).Draw(t, "context"),
		Images: []catalog.Images{{
			Quality: rapid.SampledFrom([]string{"", "standard", "hd", "ultra"}).Draw(t, "quality"),
			Size:    rapid.SampledFrom([]string{"", "1024x1024", "512x512", "1x1"}).Draw(t, "size"), Count: n("images"),
		}},
		Other: []catalog.Other{{Name: rapid.SampledFrom([]string{"maps", "file_search", "juggling", "default_steps"}).Draw(t, "unit"), Count: n("other")}},
	}
}

// Whatever was used: the terms add up, and each can be worked out by hand from what it
// says.
func TestTermsAddUp(t *testing.T) {
	t.Parallel()
	all := tariffs(t)
	rapid.Check(t, func(t *rapid.T) {
		u := drawUnits(t)
		for name, tariff := range all {
			b := tariff.Cost(&u, nil)
			added := int64(0)
			for _, x := range b.Terms {
				if want := byHand(x); want.Cmp(big.NewInt(x.Nano)) != 0 && !b.Overflow {
					t.Fatalf("%s: %+v should be %v", name, x, want)
				}
				added += x.Nano
			}
			if !b.Overflow && added != b.Cost || b.Cost < 0 {
				t.Fatalf("%s: terms of %d, cost %d, overflow %t", name, added, b.Cost, b.Overflow)
			}
		}
	})
}

// byHand is units x rate x factor / per x 10^9, rounded half up.
func byHand(x catalog.Term) *big.Int {
	rate, _ := new(big.Rat).SetString(x.Rate)
	factor, _ := new(big.Rat).SetString(x.Factor)
	v := new(big.Rat).SetFrac64(x.Units, x.Per)
	v.Mul(v, rate).Mul(v, factor).Mul(v, big.NewRat(1e9, 1)).Add(v, big.NewRat(1, 2))
	return new(big.Int).Quo(v.Num(), v.Denom())
}

// No call within its limits costs more than was reserved for it.
func TestBoundHolds(t *testing.T) {
	t.Parallel()
	all := tariffs(t)
	rapid.Check(t, func(t *rapid.T) {
		u := drawUnits(t)
		l := catalog.Limits{
			Region: u.Region, Execution: u.Execution,
			Input:      total(u.Input, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h, u.AudioInput, u.AudioCacheRead, u.ImageInput, u.ImageCacheRead),
			Output:     total(u.Output, u.Reasoning, u.Citation, u.AudioOutput, u.ImageOutput),
			AudioMilli: u.AudioMilli, Characters: u.Characters, Requests: u.Requests, Searches: u.Searches, Other: u.Other,
			Images: []catalog.Images{{Count: u.Images[0].Count}},
		}
		more := func(name string, to *int64) {
			extra := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 500_000)).Draw(t, name)
			*to = total(*to, extra)
		}
		more("more input", &l.Input)
		more("more output", &l.Output)
		more("more searches", &l.Searches)
		if rapid.Bool().Draw(t, "mode unknown") {
			l.Execution = ""
		}
		if rapid.Bool().Draw(t, "region unknown") {
			l.Region = rapid.SampledFrom([]string{"", "nowhere"}).Draw(t, "other region")
		}
		if rapid.Bool().Draw(t, "context known") {
			l.SearchContext = u.SearchContext
		}
		if rapid.Bool().Draw(t, "quality known") {
			l.Images[0].Quality = u.Images[0].Quality
		}
		if rapid.Bool().Draw(t, "size known") {
			l.Images[0].Size = u.Images[0].Size
		}
		for name, tariff := range all {
			if b, maxCost := tariff.Cost(&u, nil), tariff.MaxCost(&l); b.Cost > maxCost {
				t.Fatalf("%s: costs %d, at most %d was expected\n%+v", name, b.Cost, maxCost, b.Terms)
			}
		}
	})
}

// total adds counts up; what is negative is nothing, and too much is the most there is.
func total(counts ...int64) int64 {
	added := int64(0)
	for _, n := range counts {
		if n = max(0, n); added > math.MaxInt64-n {
			return math.MaxInt64
		}
		added += n
	}
	return added
}

func TestBoundIsNear(t *testing.T) {
	t.Parallel()
	all := tariffs(t)
	for name, c := range map[string]struct {
		input string
		l     catalog.Limits
		want  int64
	}{
		"plain chat":                    {"tokens plain", catalog.Limits{Input: 1000, Output: 500}, 7_500_000},
		"a mode that nobody knows":      {"modes four", catalog.Limits{Input: 1000}, 2_500_000},
		"all of it written for an hour": {"tokens writes", catalog.Limits{Input: 1000}, 6_000_000},
		"the higher tier is reached":    {"modes tiers", catalog.Limits{Input: 200_001}, 500_002_500},
		"the higher tier is not":        {"modes tiers", catalog.Limits{Input: 200_000}, 250_000_000},
		"an image of any kind":          {"images table", catalog.Limits{Images: []catalog.Images{{Count: 1}}}, 120_000_000},
		"a search of any context":       {"units contexts", catalog.Limits{Searches: 1}, 12_000_000},
		"free":                          {"tokens free", catalog.Limits{Input: 1e9, Output: 1e9}, 0},
		"no price":                      {"tokens null", catalog.Limits{Input: 1000}, 0},
	} {
		const slack = 26 // a nano-dollar for each dimension, on both sides
		if got := all[c.input].MaxCost(&c.l); got < c.want || got > c.want+slack {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestBillingDoesNotAllocate(t *testing.T) {
	all := tariffs(t)
	terms := make([]catalog.Term, 0, 8)
	for _, name := range []string{"tokens plain", "tokens writes", "modes tiers"} {
		tariff := all[name]
		if n := testing.AllocsPerRun(100, func() {
			u := catalog.Count(llm.Usage{InputTokens: 1200, CachedTokens: 200, OutputTokens: 500, ReasoningTokens: 90, Reported: true})
			if b := tariff.Cost(&u, terms); b.Cost == 0 || tariff.MaxCost(&catalog.Limits{Input: 1200, Output: 4096}) < b.Cost {
				t.Error("no cost")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		input llm.Usage
		want  catalog.Units
	}{
		"parts are taken out": {llm.Usage{InputTokens: 100, CachedTokens: 60, CacheWriteTokens: 10, InputAudioTokens: 5, OutputTokens: 50, ReasoningTokens: 20, OutputAudioTokens: 30},
			catalog.Units{Requests: 1, Input: 25, CacheRead: 60, CacheWrite5m: 10, AudioInput: 5, Reasoning: 20, AudioOutput: 30}},
		"a part is no larger than its whole": {llm.Usage{InputTokens: 10, CachedTokens: 8, InputAudioTokens: 8, OutputTokens: 3, ReasoningTokens: 9},
			catalog.Units{Requests: 1, CacheRead: 8, AudioInput: 2, Reasoning: 3}},
		"sound and pictures from the cache": {llm.Usage{InputTokens: 132, CachedTokens: 64, InputAudioTokens: 63, InputImageTokens: 20, CachedAudioTokens: 24, CachedImageTokens: 8},
			catalog.Units{Requests: 1, Input: 17, CacheRead: 32, AudioInput: 39, AudioCacheRead: 24, ImageInput: 12, ImageCacheRead: 8}},
		"more sound from the cache than there is": {llm.Usage{InputTokens: 100, CachedTokens: 50, InputAudioTokens: 20, CachedAudioTokens: 90},
			catalog.Units{Requests: 1, Input: 50, CacheRead: 30, AudioCacheRead: 20}},
		"what is not billed": {llm.Usage{InputTokens: 965, CachedTokens: 900, OutputTokens: 82, FreeInputTokens: 901, FreeOutputTokens: 43},
			catalog.Units{Requests: 1, CacheRead: 64, Output: 39}},
		"written for minutes and for an hour": {llm.Usage{InputTokens: 100, CacheWriteTokens: 60, CacheHourTokens: 50, Tier: "flex"},
			catalog.Units{Requests: 1, Input: 40, CacheWrite5m: 10, CacheWrite1h: 50, Execution: catalog.Flex}},
		"images that were shown": {llm.Usage{InputTokens: 300, InputImageTokens: 256}, catalog.Units{Requests: 1, Input: 44, ImageInput: 256}},
		"images that were made":  {llm.Usage{InputTokens: 2000, OutputTokens: 1300, OutputImageTokens: 1290}, catalog.Units{Requests: 1, Input: 2000, Output: 10, ImageOutput: 1290}},
		"searches and citations": {llm.Usage{SearchUnits: 3, SearchContext: "high", CitationTokens: 7}, catalog.Units{Requests: 1, Searches: 3, SearchContext: "high", Citation: 7}},
		"a length of time":       {llm.Usage{AudioSeconds: 12.3456}, catalog.Units{Requests: 1, AudioMilli: 12346}},
		"time beside tokens":     {llm.Usage{InputTokens: 5, AudioSeconds: 12}, catalog.Units{Requests: 1, Input: 5}},
		"no number":              {llm.Usage{AudioSeconds: math.NaN(), InputTokens: -5, OutputTokens: -7, CachedTokens: -1}, catalog.Units{Requests: 1}},
		"an endless time":        {llm.Usage{AudioSeconds: math.Inf(1)}, catalog.Units{Requests: 1, AudioMilli: 1e12}},
	} {
		if diff := cmp.Diff(c.want, catalog.Count(c.input)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func BenchmarkBill(b *testing.B) {
	tariff, err := catalog.NewTariff("test", catalog.Entry{Pricing: &catalog.Pricing{PayAsYouGo: &catalog.Rates{
		RequestToken: &catalog.Price{Price: 0.00025}, ResponseToken: &catalog.Price{Price: 0.001}, CacheReadInput: &catalog.Price{Price: 0.000125},
	}}}, catalog.Adjustments{})
	if err != nil {
		b.Fatal(err)
	}
	u, terms := catalog.Units{Input: 1200, CacheRead: 300, Output: 500, Requests: 1}, make([]catalog.Term, 0, 8)
	b.ReportAllocs()
	for b.Loop() {
		if tariff.Cost(&u, terms).Cost == 0 {
			b.Fatal("no cost")
		}
	}
}

func BenchmarkNewTariff(b *testing.B) {
	c := newCatalog(&clock{}, catalog.Builtin())
	prices, err := c.Prices(b.Context(), "openai")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := catalog.NewTariff("test", prices["gpt-4o"], catalog.Adjustments{}); err != nil {
			b.Fatal(err)
		}
	}
}
