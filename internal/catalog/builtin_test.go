package catalog_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/catalog"
)

// dearest is the most that a token of any model that is built in costs, in cents: 600
// dollars for a million.
const dearest = 0.06

// The built-in files say where they are from, and nothing in them is off by a power of ten
// for a slip between dollars and cents, thousands and millions.
func TestBuiltinPricesArePlausible(t *testing.T) {
	t.Parallel()
	c := newCatalog(&clock{}, catalog.Builtin())
	for _, provider := range providersOf(t, "pricing") {
		prices, err := c.Prices(t.Context(), provider)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, ok := prices["default"]; !ok {
			t.Errorf("%s has no default", provider)
		}
		for model, e := range prices {
			if model == "default" {
				continue
			}
			p, err := c.Pricing(t.Context(), provider, model)
			if err != nil || p.Currency != "USD" || p.PayAsYouGo == nil {
				t.Errorf("%s %s: %+v %v", provider, model, p, err)
				continue
			}
			plausible(t, provider+" "+model, p.PayAsYouGo)
			for name, r := range tiersOf(e.Custom) {
				plausible(t, provider+" "+model+" "+name, r)
			}
			if _, err := c.General(t.Context(), provider, model); err != nil {
				t.Errorf("%s %s has a price and no capabilities: %v", provider, model, err)
			}
		}
	}
}

func plausible(t *testing.T, name string, r *catalog.Rates) {
	t.Helper()
	in, out := r.RequestToken, r.ResponseToken
	for rate, p := range map[string]*catalog.Price{"request": in, "response": out, "cache read": r.CacheReadInput, "cache write": r.CacheWriteInput} {
		if p != nil && (p.Price < 0 || p.Price > dearest) {
			t.Errorf("%s: %s costs %v cents", name, rate, p.Price)
		}
	}
	if in != nil && out != nil && out.Price < in.Price {
		t.Errorf("%s: answers are cheaper than questions", name)
	}
	if in != nil && r.CacheReadInput != nil && r.CacheReadInput.Price >= in.Price {
		t.Errorf("%s: reading from the cache saves nothing", name)
	}
	if in != nil && r.CacheWriteInput != nil && r.CacheWriteInput.Price < in.Price {
		t.Errorf("%s: writing to the cache is cheaper than not doing so", name)
	}
}

func tiersOf(c *catalog.Custom) map[string]*catalog.Rates {
	out := map[string]*catalog.Rates{}
	if c == nil {
		return out
	}
	for region, r := range c.Regions {
		for mode, m := range r.Modes {
			for tier, p := range m.Tiers {
				out[region+" "+mode+" "+tier] = p.Pricing.PayAsYouGo
			}
		}
	}
	return out
}

// Figures that everybody knows, in dollars for a million tokens.
func TestBuiltinPrices(t *testing.T) {
	t.Parallel()
	c := newCatalog(&clock{}, catalog.Builtin())
	for name, want := range map[string][2]float64{
		"openai gpt-4o": {2.5, 10}, "openai gpt-4o-mini": {0.15, 0.6}, "anthropic claude-sonnet-4-5": {3, 15}, "google gemini-2.5-flash": {0.3, 2.5},
		"mistral-ai codestral-2508": {0.3, 0.9}, "cohere command-a-03-2025": {2.5, 10}, "deepseek deepseek-chat": {0.28, 0.42},
		"groq meta-llama/llama-4-scout-17b-16e-instruct": {0.11, 0.34},
	} {
		provider, model, _ := strings.Cut(name, " ")
		p, err := c.Pricing(t.Context(), provider, model)
		if err != nil {
			t.Error(err)
			continue
		}
		const perMillion = 10_000 // cents for a token, in dollars for a million
		got := [2]float64{p.PayAsYouGo.RequestToken.Price * perMillion, p.PayAsYouGo.ResponseToken.Price * perMillion}
		for i := range got {
			if d := got[i] - want[i]; d > 1e-9 || d < -1e-9 {
				t.Errorf("%s costs %v, want %v", name, got, want)
			}
		}
	}
}

func TestBuiltinFilesNameTheirSource(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"pricing", "general"} {
		for _, provider := range providersOf(t, folder) {
			raw, err := os.ReadFile(filepath.Join("builtin", folder, provider+".json"))
			if err != nil {
				t.Fatal(err)
			}
			var f struct {
				Source struct {
					URL  string `json:"url"`
					AsOf string `json:"as_of"`
				} `json:"$source"`
			}
			if err := json.Unmarshal(raw, &f); err != nil || !strings.HasPrefix(f.Source.URL, "https://") {
				t.Errorf("%s %s: %v, source %q", folder, provider, err, f.Source.URL)
			}
			if _, err := time.Parse("2006-01", f.Source.AsOf); err != nil {
				t.Errorf("%s %s: %v", folder, provider, err)
			}
		}
	}
}

func providersOf(t *testing.T, folder string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("builtin", folder, "*.json"))
	if err != nil || len(names) < 7 {
		t.Fatalf("%d files: %v", len(names), err)
	}
	for i, n := range names {
		names[i] = strings.TrimSuffix(filepath.Base(n), ".json")
	}
	return names
}
