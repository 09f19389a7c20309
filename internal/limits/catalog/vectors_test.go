package catalog_test

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/internal/limits/catalog"
)

// vectors is testdata/vectors.json, which docs/pricing.md publishes: price lists by name,
// and what calls cost by them. The amounts were worked out apart from this program, with
// fractions.
type vectors struct {
	Pricing map[string]json.RawMessage `json:"pricing"` // files of providers
	Cases   []struct {
		Name        string          `json:"name"`
		Why         string          `json:"why"`     // how the amounts come about
		Pricing     string          `json:"pricing"` // also the provider
		Model       string          `json:"model"`
		Adjustments json.RawMessage `json:"pricing_adjustments"`
		Units       catalog.Units   `json:"units"`
		Bill        catalog.Cost    `json:"bill"` // without its version
	} `json:"cases"`
}

func readVectors(t testing.TB) vectors {
	t.Helper()
	var v vectors
	if err := json.Unmarshal(readFile(t, "testdata/vectors.json"), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// catalog is one of the price lists of the vectors.
func (v vectors) catalog() *catalog.Catalog {
	src := &files{texts: map[string]string{}}
	for name, text := range v.Pricing {
		src.texts["pricing/"+name] = string(text)
	}
	return newCatalog(&clock{}, src)
}

func TestVectors(t *testing.T) {
	t.Parallel()
	v := readVectors(t)
	c := v.catalog()
	names, explained := map[string]bool{}, 0
	for _, x := range v.Cases {
		if names[x.Name] {
			t.Errorf("%q is duplicated", x.Name)
		}
		if names[x.Name] = true; x.Why != "" {
			explained++
		}
		a, err := catalog.ReadAdjustments(x.Adjustments)
		if err != nil {
			t.Errorf("%s: %v", x.Name, err)
			continue
		}
		got := c.Tariff(t.Context(), x.Pricing, x.Model).Adjust(a).Cost(&x.Units, nil)
		if diff := cmp.Diff(x.Bill, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(catalog.Cost{}, "Version")); diff != "" {
			t.Errorf("%s: %s\n%s", x.Name, x.Why, diff)
		}
	}
	if len(names) < 300 || explained < 40 {
		t.Errorf("%d cases, %d of them explained", len(names), explained)
	}
}

// The worked examples of the manual are vectors.
func TestManualNamesVectors(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, x := range readVectors(t).Cases {
		names[x.Name] = true
	}
	examples := regexp.MustCompile(`vector "([^"]+)"`).FindAllSubmatch(readFile(t, "../../../docs/pricing.md"), -1)
	if len(examples) < 5 {
		t.Errorf("%d examples", len(examples))
	}
	for _, e := range examples {
		if !names[string(e[1])] {
			t.Errorf("there is no vector %q", e[1])
		}
	}
}
