package catalog_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/kernel/fault"
	"sluice/internal/limits/catalog"
)

// A price is billed as it was written, digit for digit, and handed out again the same.
func TestPricesAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.Int64Range(0, 5_000_000_000_000).Draw(t, "femto-dollars")
		cents := fmt.Sprintf("0.%013d", units)
		var p catalog.Price
		if err := json.Unmarshal([]byte(`{"price": `+cents+`}`), &p); err != nil {
			t.Fatal(err)
		}
		tariff, err := catalog.NewTariff("test", catalog.Entry{Pricing: &catalog.Pricing{PayAsYouGo: &catalog.Rates{RequestToken: &p}}}, catalog.Adjustments{})
		if err != nil {
			t.Fatal(err)
		}
		b := tariff.Cost(&catalog.Units{Input: 1_000_000}, nil)
		if b.Cost != units || !b.Priced() { // a million times a femto-dollar is a nano-dollar
			t.Fatalf("a million tokens at %s cents cost %d, want %d", cents, b.Cost, units)
		}
	})
}

func TestPricesThatAreNone(t *testing.T) {
	t.Parallel()
	for price, why := range map[string]string{
		`-0.0001`: "must not be negative", `-1e-300`: "must not be negative", `1e999`: "must not exceed", `100001`: "must not exceed", `0.51`: "cents per token",
		`"0.0001"`: "", `"NaN"`: "", `null`: "is missing", `{}`: "", `true`: "", `1234.56789012345678`: "more than 15 digits",
		`0.` + strings.Repeat("1", 80): "64 digits",
	} {
		text := `{"m": {"pricing_config": {"pay_as_you_go": {"request_token": {"price": ` + price + `}}}}}`
		c := newCatalog(&clock{}, &files{texts: map[string]string{"pricing/acme": text}})
		_, err := c.Prices(t.Context(), "acme")
		faults := c.Faults()
		if !fault.Has(err, fault.NotFound) || len(faults) != 1 || !strings.Contains(faults[0].Error, why) || !strings.Contains(faults[0].Error, "model m") {
			t.Errorf("%s: %v, %+v", price, err, faults)
		}
	}
}

// Each place of a file in which a price may stand is looked at, and named.
func TestBadPricesAreFoundEverywhere(t *testing.T) {
	t.Parallel()
	const bad = `{"price": 100000}`
	custom := func(mode string) string {
		return `{"custom_pricing": {"context_tier_map": {"0": "all"}, "regions": {"us": {"execution_modes": {"flex": ` + mode + `}}}}}`
	}
	for where, entry := range map[string]string{
		"pay_as_you_go.response_token":     `{"pricing_config": {"pay_as_you_go": {"response_token": ` + bad + `}}}`,
		"batch_config.reasoning_token":     `{"pricing_config": {"batch_config": {"reasoning_token": ` + bad + `}}}`,
		"us, flex: pay_as_you_go":          custom(`{"pricing_config": {"pay_as_you_go": {"request_token": ` + bad + `}}}`),
		"us, flex: context tier all":       custom(`{"context_tiers": {"all": {"pricing_config": {"pay_as_you_go": {"request_token": ` + bad + `}}}}}`),
		`context_tier_map: "many"`:         `{"custom_pricing": {"context_tier_map": {"many": "all"}}}`,
		`context_tier_map: "0200"`:         `{"custom_pricing": {"context_tier_map": {"0200": "all"}}}`,
		`context_tier_map: "-1"`:           `{"custom_pricing": {"context_tier_map": {"-1": "all"}}}`,
		"price is missing":                 `{"pricing_config": {"pay_as_you_go": {"additional_units": {"maps": {}}}}}`,
		"pay_as_you_go.cached_text":        `{"pricing_config": {"pay_as_you_go": {"cached_text_input_token": ` + bad + `}}}`,
		"price 1e6 must not exceed 100000": `{"pricing_config": {"fixed_cost": {"request": {"price": 1e6}}}}`,
	} {
		c := newCatalog(&clock{}, &files{texts: map[string]string{"pricing/acme": `{"m": ` + entry + `}`}})
		if _, err := c.Prices(t.Context(), "acme"); err == nil || len(c.Faults()) != 1 || !strings.Contains(c.Faults()[0].Error, where) {
			t.Errorf("%s: %v %+v", where, err, c.Faults())
		}
	}
	for name, p := range map[string]float64{"negative": -1, "no number": math.NaN(), "endless": math.Inf(1)} {
		rates := &catalog.Rates{Image: map[string]map[string]catalog.Price{"hd": {"big": {Price: p}}}}
		if _, err := catalog.NewTariff("test", catalog.Entry{Pricing: &catalog.Pricing{PayAsYouGo: rates}}, catalog.Adjustments{}); !fault.Has(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file that goes bad does not replace the last good one; that it did is visible until a
// good one is there.
func TestLastGoodFileStays(t *testing.T) {
	t.Parallel()
	now := &clock{time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}
	src := &files{texts: map[string]string{"pricing/acme": acme}}
	c := catalog.New(now, slog.New(slog.DiscardHandler), src)
	u := catalog.Units{Input: 1000}
	before := c.Tariff(t.Context(), "acme", "large").Cost(&u, nil)
	src.texts["pricing/acme"] = `{"large": {"pricing_config": {"pay_as_you_go": {"request_token": {"price": -1}}}}}`
	now.now = now.now.Add(time.Hour)
	if b := c.Tariff(t.Context(), "acme", "large").Cost(&u, nil); b.Cost != before.Cost || b.Cost == 0 || b.Version != before.Version {
		t.Errorf("%+v, then %+v", before, b)
	}
	want := catalog.LoadError{Folder: catalog.PricingFiles, Provider: "acme", Source: "test", Since: now.now}
	if f := c.Faults(); len(f) != 1 || f[0].Error == "" || c.Failures() != 1 {
		t.Errorf("%+v", f)
	} else if f[0].Error = ""; f[0] != want {
		t.Errorf("%+v, want %+v", f[0], want)
	}
	src.texts["pricing/acme"] = acme
	now.now = now.now.Add(time.Minute)
	if _, err := c.Prices(t.Context(), "acme"); err != nil || len(c.Faults()) != 0 || c.Failures() != 1 {
		t.Errorf("%v %+v", err, c.Faults())
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	entry := func(cents float64) catalog.Entry {
		return catalog.Entry{Pricing: &catalog.Pricing{PayAsYouGo: &catalog.Rates{RequestToken: &catalog.Price{Price: cents}}}}
	}
	adjust := func(text string) catalog.Adjustments {
		a, err := catalog.ReadAdjustments([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	version := func(source string, cents float64, a catalog.Adjustments) string {
		tariff, err := catalog.NewTariff(source, entry(cents), a)
		if err != nil {
			t.Fatal(err)
		}
		return tariff.Version()
	}
	plain := version("proxy", 0.1, catalog.Adjustments{})
	for name, v := range map[string]string{
		"the same": version("proxy", 0.1, catalog.Adjustments{}), "adjusted by nothing": version("proxy", 0.1, adjust(`{"multiplier": {}}`)),
	} {
		if v != plain || len(v) != 16 {
			t.Errorf("%s: %s, want %s", name, v, plain)
		}
	}
	seen := map[string]string{plain: "the first"}
	for name, v := range map[string]string{
		"another price": version("proxy", 0.2, catalog.Adjustments{}), "another source": version("local", 0.1, catalog.Adjustments{}),
		"a multiplier": version("proxy", 0.1, adjust(`{"multiplier": {"default": 2}}`)), "another": version("proxy", 0.1, adjust(`{"multiplier": {"request_token": 2}}`)),
	} {
		if seen[v] != "" {
			t.Errorf("%s has the version of %s", name, seen[v])
		}
		seen[v] = name
	}
}

// What a call used is kept, so that it can be billed again when a price was wrong.
func TestRerating(t *testing.T) {
	t.Parallel()
	all := tariffs(t)
	stored, err := json.Marshal(catalog.Units{Input: 1000, Output: 500, Searches: 2, Images: []catalog.Images{{Count: 1}}, Execution: catalog.Batch, Region: "us"})
	if err != nil {
		t.Fatal(err)
	}
	var u catalog.Units
	if err := json.Unmarshal(stored, &u); err != nil {
		t.Fatal(err)
	}
	wrong, right := all["tokens plain"].Cost(&u, nil), all["modes batch-plain"].Cost(&u, nil)
	if wrong.Cost == right.Cost || wrong.Version == right.Version || right.Cost != 1_250_000+2_500_000+20_000_000+20_000_000 {
		t.Errorf("%+v\n%+v", wrong, right)
	}
}

func TestAdjustments(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `null`, `{}`, `{"multiplier": null}`, `{"multiplier": {"default": null, "image": null, "additional_units": {"maps": null}}}`} {
		if _, err := catalog.ReadAdjustments([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, param := range map[string]string{
		`[]`: "pricing_adjustments", `{"factor": {}}`: "factor", `{"multiplier": 2}`: "multiplier", `{"multiplier": {"request": 1}}`: "request",
		`{"multiplier": {"default": -1}}`: "default", `{"multiplier": {"default": 1001}}`: "default", `{"multiplier": {"default": "2"}}`: "default",
		`{"multiplier": {"default": 1.0000001}}`: "default", `{"multiplier": {"default": 1e999}}`: "default", `{"multiplier": {"image": {"hd": 1}}}`: "image.hd",
		`{"multiplier": {"additional_units": {"maps": true}}}`: "additional_units.maps", `{"multiplier": {"cached_text_input_token": 1}}`: "cached_text_input_token",
	} {
		_, err := catalog.ReadAdjustments([]byte(text))
		if f := fault.From(err); err == nil || !strings.HasSuffix(f.Param, param) || f.Code != fault.InvalidParameter {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// All prices that are built in can be billed by.
func TestBuiltinTariffs(t *testing.T) {
	t.Parallel()
	c := newCatalog(&clock{}, catalog.Builtin())
	for _, provider := range providersOf(t, "pricing") {
		prices, err := c.Prices(t.Context(), provider)
		if err != nil {
			t.Errorf("%s: %v %+v", provider, err, c.Faults())
		}
		for model := range prices {
			if tariff := c.Tariff(t.Context(), provider, model); model != "default" && tariff.Reason() != "" {
				t.Errorf("%s %s: %s", provider, model, strconv.Quote(string(tariff.Reason())))
			}
		}
	}
}
