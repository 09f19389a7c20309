package promptcache_test

import (
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/gateway/promptcache"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
)

// card has the prices of Claude Sonnet 4.5: for a million tokens of input 3 dollars, read 0.30, written
// 3.75, and written for an hour 6.
func card(t interface{ Fatal(...any) }, rates *catalog.Rates) *catalog.RateCard {
	c, err := catalog.NewTariff("test", catalog.Entry{Pricing: &catalog.Pricing{PayAsYouGo: rates}}, catalog.Adjustments{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func cents(p float64) *catalog.Price { return &catalog.Price{Price: p} }

func sonnetRates() *catalog.Rates {
	return &catalog.Rates{
		RequestToken: cents(0.0003), ResponseToken: cents(0.0015), CacheReadInput: cents(0.00003), CacheWriteInput: cents(0.000375),
		AdditionalUnits: map[string]catalog.Price{"cache_write_1h": {Price: 0.0006}},
	}
}

func TestSaved_IsTheDifferenceToTheUsualPrice(t *testing.T) {
	t.Parallel()
	c := card(t, sonnetRates())
	for name, tt := range map[string]struct {
		usage llm.Usage
		want  int64
	}{
		"nothing cached":      {llm.Usage{InputTokens: 1000, OutputTokens: 10}, 0},
		"read":                {llm.Usage{InputTokens: 1000, CachedTokens: 1000}, 1000 * (3000 - 300)},
		"written":             {llm.Usage{InputTokens: 1000, CacheWriteTokens: 1000}, 1000 * (3000 - 3750)},
		"written for an hour": {llm.Usage{InputTokens: 1000, CacheWriteTokens: 1000, CacheHourTokens: 1000}, 1000 * (3000 - 6000)},
		"read and written":    {llm.Usage{InputTokens: 1500, CachedTokens: 1000, CacheWriteTokens: 400, OutputTokens: 99}, 1000*2700 - 400*750},
	} {
		u := catalog.Count(tt.usage)
		if got, known := promptcache.Saved(c, &u); got != tt.want || !known {
			t.Errorf("%s: got %d %v, want %d", name, got, known, tt.want)
		}
	}
}

func TestSaved_IsUnknownWithoutAPrice(t *testing.T) {
	t.Parallel()
	u := catalog.Count(llm.Usage{InputTokens: 1000, CachedTokens: 900})
	if got, known := promptcache.Saved(card(t, &catalog.Rates{ResponseToken: cents(0.1)}), &u); known {
		t.Errorf("got %d", got)
	}
	none := catalog.Count(llm.Usage{InputTokens: 1000})
	if got, known := promptcache.Saved(card(t, &catalog.Rates{ResponseToken: cents(0.1)}), &none); got != 0 || !known {
		t.Errorf("without a cache: got %d %v", got, known)
	}
}

func TestSaved_IgnoresWhatIsNotCached(t *testing.T) {
	t.Parallel()
	c := card(t, sonnetRates())
	u := catalog.Count(llm.Usage{InputTokens: 1000, CachedTokens: 1000})
	want, _ := promptcache.Saved(c, &u)
	u.Searches, u.Output, u.Other = 3, 500, []catalog.Other{{Name: "file_search", Count: 1}} // without a price
	if got, known := promptcache.Saved(c, &u); got != want || !known {
		t.Errorf("got %d %v, want %d", got, known, want)
	}
	u.CacheHit = true
	if got, known := promptcache.Saved(c, &u); got != 0 || !known {
		t.Errorf("a response of the gateway's cache: got %d %v", got, known)
	}
}

// The saving and the billed cost add up to the cost without a cache.
func TestSaved_AddsUpWithTheCost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1_000_000)
		usage := llm.Usage{InputTokens: n.Draw(t, "input"), CachedTokens: n.Draw(t, "read"), CacheWriteTokens: n.Draw(t, "written"), CacheHourTokens: n.Draw(t, "hour"), OutputTokens: n.Draw(t, "output")}
		c := card(t, sonnetRates())
		u := catalog.Count(usage)
		plain := catalog.Count(llm.Usage{InputTokens: usage.InputTokens, OutputTokens: usage.OutputTokens})
		saved, known := promptcache.Saved(c, &u)
		if billed, usual := c.Cost(&u, nil), c.Cost(&plain, nil); !known || billed.Cost+saved != usual.Cost {
			t.Fatalf("billed %d, saved %d %v, usual %d", billed.Cost, saved, known, usual.Cost)
		}
	})
}

func BenchmarkSaved(b *testing.B) {
	c := card(b, sonnetRates())
	u := catalog.Count(llm.Usage{InputTokens: 1500, CachedTokens: 1000, CacheWriteTokens: 400})
	b.ReportAllocs()
	for b.Loop() {
		promptcache.Saved(c, &u)
	}
}
