package catalog_test

import (
	"slices"
	"testing"
	"time"

	"sluice/internal/limits/catalog"
)

// A name that stands for another model has the price of that one.
func TestAliasesHaveThePriceOfTheirModel(t *testing.T) {
	t.Parallel()
	list := `{"default":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0},"response_token":{"price":0}}}},
		"base":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0.0001}}}},
		"dated-20250102":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0.0002}}}},
		"dated-20250301":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0.0003}}}},
		"tuned":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0.0005}}}},
		"ft:tuned":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0.0006}}}},
		"ft:tuned:acme::own":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0.0007}}}},
		"own-latest":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0.0004}}}}}`
	b := catalog.NewPriceList(newCatalog(&clock{}, &files{texts: map[string]string{"pricing/acme": list}}))
	b.Find("acme", "base", nil)
	b.Renew(t.Context())
	for model, want := range map[string]int64{
		"base": 1000, "base-latest": 1000, "base@default": 1000, "base@latest": 1000, "base-2031-12-31": 1000, "base-20311231": 1000, "base@20311231": 1000,
		"ft:base:acme::id": 1000, "ft:base-2031-12-31:acme:suffix:id": 1000,
		"dated": 3000, "dated-latest": 3000, "dated@default": 3000, "dated-20250102": 2000, "ft:dated:acme::id": 3000, "ft:dated-20250102:acme::id": 2000,
		"tuned": 5000, "ft:tuned:acme::id": 6000, "ft:tuned-2031-12-31:acme::id": 6000, "ft:tuned-latest:acme": 6000, "ft:tuned": 6000, "ft:tuned:acme::own": 7000,
		"own-latest": 4000,
	} {
		if got := b.Find("acme", model, nil).Cost(&catalog.Units{Input: 1}, nil); got.Cost != want || !got.Priced() || !b.Has("acme", model, nil) {
			t.Errorf("%s costs %+v, want %d", model, got, want)
		}
	}
	for _, model := range []string{"", "default", "-latest", "ft:", "ft:default:acme::id", "base-mini", "base-20311331", "base-19991231", "base-1234", "own", "other-latest"} {
		if got := b.Find("acme", model, nil); got.Reason() != catalog.UnknownModel || b.Has("acme", model, nil) {
			t.Errorf("%s has a price: %+v", model, got)
		}
	}
	if names := b.Names("acme", time.Time{}); slices.Contains(names, "ft:tuned") || !slices.Contains(names, "ft:tuned:acme::own") {
		t.Errorf("models to be had: %q", names)
	}
}

// OpenAI's tuned models cost more than the models that they were tuned from.
// Source: https://openai.com/api/pricing, fine-tuning, read 2026-11.
func TestTunedModelsOfOpenAIHavePricesOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := catalog.NewPriceList(newCatalog(&clock{}, catalog.Builtin()))
	for base, want := range map[string][3]int64{ // nano-dollars for a thousand tokens of input, from the cache, of output
		"gpt-4.1": {3_000_000, 750_000, 12_000_000}, "gpt-4.1-mini": {800_000, 200_000, 3_200_000}, "gpt-4.1-nano": {200_000, 50_000, 800_000},
		"gpt-4o": {3_750_000, 1_875_000, 15_000_000}, "gpt-4o-mini": {300_000, 150_000, 1_200_000}, "o4-mini": {4_000_000, 1_000_000, 16_000_000},
		"gpt-3.5-turbo": {3_000_000, 3_000_000, 6_000_000}, "gpt-3.5-turbo-0125": {3_000_000, 3_000_000, 6_000_000}, "davinci-002": {12_000_000, 12_000_000, 12_000_000}, "babbage-002": {1_600_000, 1_600_000, 1_600_000},
		"gpt-4-0613": {30_000_000, 30_000_000, 60_000_000}, // as the model that it was tuned from
	} {
		for _, model := range []string{"ft:" + base + ":acme::id", "ft:" + base + "-2031-12-31:acme:suffix:id"} {
			tariff := b.Find("openai", model, nil)
			for i, u := range [...]catalog.Units{{Input: 1000}, {CacheRead: 1000}, {Output: 1000}} {
				if got := tariff.Cost(&u, nil); got.Cost != want[i] || !got.Priced() {
					t.Errorf("%s: %+v costs %+v, want %d", model, u, got, want[i])
				}
				u.Execution = catalog.Batch
				if got := tariff.Cost(&u, nil); got.Cost != want[i]/2 {
					t.Errorf("a batch of %s: %+v costs %+v, want %d", model, u, got, want[i]/2)
				}
			}
			for _, unit := range []string{catalog.TrainingTokens, catalog.TrainingSeconds, catalog.FileSearch, "web_search"} {
				if base := b.Find("openai", base, nil); tariff.HasPrice(unit) != base.HasPrice(unit) {
					t.Errorf("%s has a price of %s: %v", model, unit, tariff.HasPrice(unit))
				}
			}
		}
	}
}

// The models of a free provider cost nothing, unless a list has them, or has none.
func TestFreeProviders(t *testing.T) {
	t.Parallel()
	list := `{"priced":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0.0001}}}}}`
	b := catalog.NewPriceList(newCatalog(&clock{}, &files{texts: map[string]string{"pricing/acme": list}}), "acme", "bare")
	b.Find("acme", "priced", nil)
	b.Renew(t.Context())
	units := &catalog.Units{Input: 1000, Output: 10, Searches: 3}
	for _, c := range []struct {
		provider, model string
		a               *catalog.PriceOverrides
		cost            int64
	}{{"acme", "priced", nil, 1_000_000}, {"acme", "other", nil, 0}, {"bare", "other", nil, 0}, {"acme", "priced", catalog.Free(), 0}, {"paid", "other", catalog.Free(), 0}} {
		tariff := b.Find(c.provider, c.model, c.a)
		got := tariff.Cost(units, nil)
		if got.Cost != c.cost || tariff.Reason() != "" || c.cost == 0 && (!got.Priced() || !tariff.Free() || tariff.MaxCost(&catalog.Limits{Input: 9}) != 0) {
			t.Errorf("%s of %s: %+v", c.model, c.provider, got)
		}
	}
	if got := b.Find("paid", "other", nil); got.Reason() == "" {
		t.Error("a provider that is not free is")
	}
}
