package catalog_test

import (
	"testing"

	"sluice/internal/catalog"
)

// A name that stands for another model has the price of that one.
func TestAliasesHaveThePriceOfTheirModel(t *testing.T) {
	t.Parallel()
	list := `{"default":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0},"response_token":{"price":0}}}},
		"base":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0.0001}}}},
		"dated-20250102":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0.0002}}}},
		"dated-20250301":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0.0003}}}},
		"own-latest":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0.0004}}}}}`
	b := catalog.NewBook(newCatalog(&clock{}, &files{of: map[string]string{"pricing/acme": list}}))
	b.Find("acme", "base", nil)
	b.Renew(t.Context())
	for model, want := range map[string]int64{
		"base": 1000, "base-latest": 1000, "base@default": 1000, "base@latest": 1000, "base-2031-12-31": 1000, "base-20311231": 1000, "base@20311231": 1000,
		"ft:base:acme::id": 1000, "ft:base-2031-12-31:acme:suffix:id": 1000,
		"dated": 3000, "dated-latest": 3000, "dated@default": 3000, "dated-20250102": 2000, "ft:dated:acme::id": 3000,
		"own-latest": 4000,
	} {
		if got := b.Find("acme", model, nil).Bill(&catalog.Units{Input: 1}, nil); got.Cost != want || !got.Priced() || !b.Has("acme", model, nil) {
			t.Errorf("%s costs %+v, want %d", model, got, want)
		}
	}
	for _, model := range []string{"", "default", "-latest", "ft:", "ft:default:acme::id", "base-mini", "base-20311331", "base-19991231", "base-1234", "own", "other-latest"} {
		if got := b.Find("acme", model, nil); got.Reason() != catalog.UnknownModel || b.Has("acme", model, nil) {
			t.Errorf("%s has a price: %+v", model, got)
		}
	}
}

// The models of a free provider cost nothing, unless a list has them, or has none.
func TestFreeProviders(t *testing.T) {
	t.Parallel()
	list := `{"priced":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":0.0001}}}}}`
	b := catalog.NewBook(newCatalog(&clock{}, &files{of: map[string]string{"pricing/acme": list}}), "acme", "bare")
	b.Find("acme", "priced", nil)
	b.Renew(t.Context())
	units := &catalog.Units{Input: 1000, Output: 10, Searches: 3}
	for _, c := range []struct {
		provider, model string
		a               *catalog.Agreement
		cost            int64
	}{{"acme", "priced", nil, 1_000_000}, {"acme", "other", nil, 0}, {"bare", "other", nil, 0}, {"acme", "priced", catalog.Free(), 0}, {"paid", "other", catalog.Free(), 0}} {
		tariff := b.Find(c.provider, c.model, c.a)
		got := tariff.Bill(units, nil)
		if got.Cost != c.cost || tariff.Reason() != "" || c.cost == 0 && (!got.Priced() || !tariff.Free() || tariff.Bound(&catalog.Limits{Input: 9}) != 0) {
			t.Errorf("%s of %s: %+v", c.model, c.provider, got)
		}
	}
	if got := b.Find("paid", "other", nil); got.Reason() == "" {
		t.Error("a provider that is not free is")
	}
}
