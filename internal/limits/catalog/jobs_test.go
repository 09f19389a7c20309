package catalog_test

import (
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/limits/catalog"
)

func jobTariff(t testing.TB, e catalog.Entry) *catalog.RateCard {
	t.Helper()
	tariff, err := catalog.NewTariff("test", e, catalog.Adjustments{})
	if err != nil {
		t.Fatal(err)
	}
	return tariff
}

func priceOf(cents float64) *catalog.Price { return &catalog.Price{Price: cents} }

func TestTrainingAndVideoHaveUnitsOfTheirOwn(t *testing.T) {
	t.Parallel()
	tariff := jobTariff(t, catalog.Entry{Pricing: &catalog.Pricing{
		PayAsYouGo: &catalog.Rates{AdditionalUnits: map[string]catalog.Price{"video_seconds": {Price: 10}, "video_duration_seconds_1792_1024": {Price: 50}}},
		Finetune:   &catalog.Finetune{PerToken: priceOf(0.0003), PerHour: priceOf(10_000)},
	}})
	for _, c := range []struct {
		unit string
		n    int64
		want int64
	}{
		{"video_seconds", 8, 8 * 100_000_000}, {"video_duration_seconds_1280_720", 8, 8 * 100_000_000}, {"video_duration_seconds_1792_1024", 8, 8 * 500_000_000},
		{catalog.TrainingTokens, 1_000_000, 3_000_000_000}, {catalog.TrainingSeconds, 90 * 60, 150_000_000_000},
	} {
		units := catalog.Units{Other: []catalog.Other{{Name: c.unit, Count: c.n}}}
		bill := tariff.Cost(&units, nil)
		maxCost := tariff.MaxCost(&catalog.Limits{Other: units.Other})
		if bill.Cost != c.want || !bill.Priced() || maxCost != c.want || !tariff.HasPrice(c.unit) {
			t.Errorf("%d %s cost %d (%s), at most %d, want %d", c.n, c.unit, bill.Cost, bill.MissingPrice(), maxCost, c.want)
		}
	}
	if _, err := catalog.NewTariff("test", catalog.Entry{Pricing: &catalog.Pricing{Finetune: &catalog.Finetune{PerToken: priceOf(-1)}}}, catalog.Adjustments{}); err == nil {
		t.Error("a negative price of training is accepted")
	}
}

// The bound of several requests is at least the sum of their bills, and does not take the
// price of a long context for many short ones.
func TestBoundOfSeveralRequests(t *testing.T) {
	t.Parallel()
	long := catalog.Pricing{PayAsYouGo: &catalog.Rates{RequestToken: priceOf(0.00025), ResponseToken: priceOf(0.0015)}}
	tariff := jobTariff(t, catalog.Entry{
		Pricing: &catalog.Pricing{PayAsYouGo: &catalog.Rates{RequestToken: priceOf(0.000125), ResponseToken: priceOf(0.001)}},
		Custom: &catalog.Custom{ContextTiers: map[string]string{"0": "short", "200000": "long"}, Regions: map[string]catalog.Region{"default": {Modes: map[string]catalog.Mode{
			"standard": {Tiers: map[string]catalog.Tier{"long": {Pricing: &long}}},
		}}}},
	})
	short := tariff.MaxCost(&catalog.Limits{Execution: catalog.Batch, Requests: 1000, Input: 1_000_000, Largest: 1000, Output: 10_000})
	if want := int64(1_000_000*625 + 10_000*5_000); short < want || short > want+1000*100 {
		t.Errorf("short requests are bounded by %d, want %d", short, want)
	}
	rapid.Check(t, func(r *rapid.T) {
		l := catalog.Limits{Execution: catalog.Batch}
		added := int64(0)
		for range rapid.IntRange(1, 20).Draw(r, "requests") {
			input, out := rapid.Int64Range(0, 400_000).Draw(r, "input"), rapid.Int64Range(0, 400_000).Draw(r, "output")
			bill := tariff.Cost(&catalog.Units{Execution: catalog.Batch, Requests: 1, Input: input, Output: out}, nil)
			added += bill.Cost
			l.Requests, l.Input, l.Output, l.Largest = l.Requests+1, l.Input+input, l.Output+out, max(l.Largest, input, 1)
		}
		if maxCost := tariff.MaxCost(&l); maxCost < added {
			r.Fatalf("%d requests cost %d, and are bounded by %d", l.Requests, added, maxCost)
		}
	})
}
