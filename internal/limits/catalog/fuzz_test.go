package catalog_test

import (
	"testing"

	"sluice/internal/limits/catalog"
)

// Whatever a file says: it is refused, or its models can be billed, a bill is never
// negative, and none is dearer than its bound.
func FuzzPrices(f *testing.F) {
	f.Add(acme)
	for _, text := range readVectors(f).Pricing {
		f.Add(string(text))
	}
	units := catalog.Units{
		Execution: catalog.Batch, Region: "us", Input: 250_000, CacheRead: 7, CacheWrite1h: 5, Output: 1000, Reasoning: 10, Requests: 1, Searches: 1,
		Images: []catalog.Images{{Quality: "hd", Count: 1}}, Other: []catalog.Other{{Name: "maps", Count: 1}},
	}
	limits := catalog.Limits{
		Region: "us", Input: 250_012, Output: 1010, Requests: 1, Searches: 1, Images: units.Images, Other: units.Other,
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := newCatalog(&clock{}, &files{texts: map[string]string{"pricing/acme": text}})
		prices, err := c.Prices(t.Context(), "acme")
		if err != nil {
			return
		}
		for model := range prices {
			tariff := c.Tariff(t.Context(), "acme", model)
			b := tariff.Cost(&units, nil)
			if maxCost := tariff.MaxCost(&limits); b.Cost < 0 || b.Cost > maxCost {
				t.Errorf("%s costs %d, at most %d was expected", model, b.Cost, maxCost)
			}
		}
	})
}
