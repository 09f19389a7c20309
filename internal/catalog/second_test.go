package catalog_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"sluice/internal/catalog"
)

// The built-in prices agree with a second published table, model by model, but for
// differences that are listed with their reason and source. One that is listed and gone is
// a mistake, too.
func TestPricesAgreeWithASecondTable(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/second.json")
	if err != nil {
		t.Fatal(err)
	}
	var second struct {
		Prices      map[string]map[string][3]*float64
		Differences map[string]map[string]string
	}
	if err := json.Unmarshal(raw, &second); err != nil {
		t.Fatal(err)
	}
	b := catalog.NewBook(newCatalog(&clock{}, catalog.Builtin()))
	const thousand = 1000
	units := [3]catalog.Units{{Input: thousand}, {Output: thousand}, {CacheRead: thousand}}
	compared := 0
	for provider, models := range second.Prices {
		for model, prices := range models {
			compared++
			differs := ""
			for i, want := range prices {
				if want == nil {
					continue
				}
				u := units[i]
				bill := b.Find(provider, model, nil).Bill(&u, nil)
				nano := int64(math.Round(*want * thousand * 1000)) // of a thousand tokens
				if i == 2 && (len(bill.Terms) == 0 || bill.Terms[0].Dimension != "cache_read") {
					continue // the built-in list has no price of its own for what is cached
				}
				if !bill.Priced() || bill.Cost != nano {
					differs += bill.Terms[0].Dimension + " "
				}
			}
			why := second.Differences[provider][model]
			switch {
			case differs != "" && why == "":
				t.Errorf("%s of %s differs in %sand nobody says why", model, provider, differs)
			case differs == "" && why != "":
				t.Errorf("%s of %s does not differ any more, and the list says that it does", model, provider)
			}
		}
	}
	if compared < 150 {
		t.Errorf("%d models were compared", compared)
	}
}
