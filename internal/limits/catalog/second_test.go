package catalog_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/limits/catalog"
)

// published is testdata/second.json: what other tables say that models cost, and in what the
// built-in prices differ from them.
type published struct {
	Tables map[string]struct {
		Prices map[string]map[string]publishedModel // by provider and model
	}
	Differences []struct {
		Reason, Source, Read string
		Of                   map[string][]string // fields by "table provider model"
	}
	NotVerified struct {
		About string
		Of    map[string][]string
	} `json:"not_verified"`
}

// publishedModel are the prices of a model in dollars for a million tokens.
type publishedModel struct {
	publishedRates
	Above                 map[string]publishedRates // by tokens of input
	Batch, Priority, Fast publishedRates
}

// publishedRates are prices by their names in rateUnits; embedded objects are passed over.
type publishedRates map[string]float64

func (m *publishedModel) UnmarshalJSON(raw []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	m.publishedRates = publishedRates{}
	for name, v := range fields {
		var into any = new(float64)
		switch name {
		case "above":
			into = &m.Above
		case "batch":
			into = &m.Batch
		case "priority":
			into = &m.Priority
		case "fast":
			into = &m.Fast
		}
		if err := json.Unmarshal(v, into); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if price, ok := into.(*float64); ok {
			m.publishedRates[name] = *price
		}
	}
	return nil
}

// rateUnits are n tokens of a kind; output beside as much input as it takes to pass a threshold.
var rateUnits = map[string]func(n, inputTokens int64) catalog.Units{
	"input":        func(n, _ int64) catalog.Units { return catalog.Units{Input: n} },
	"read":         func(n, _ int64) catalog.Units { return catalog.Units{CacheRead: n} },
	"write":        func(n, _ int64) catalog.Units { return catalog.Units{CacheWrite5m: n} },
	"write_1h":     func(n, _ int64) catalog.Units { return catalog.Units{CacheWrite1h: n} },
	"output":       func(n, inputTokens int64) catalog.Units { return catalog.Units{Output: n, Input: inputTokens} },
	"audio_output": func(n, inputTokens int64) catalog.Units { return catalog.Units{AudioOutput: n, Input: inputTokens} },
	"image_output": func(n, inputTokens int64) catalog.Units { return catalog.Units{ImageOutput: n, Input: inputTokens} },
}

// unequal are the fields in which a Tariff differs from what is published.
func (m *publishedModel) unequal(tariff *catalog.RateCard) (fields []string) {
	const few = 10_000
	check := func(prefix string, mode catalog.Execution, n, inputTokens int64, rates publishedRates) {
		input := tariff.Cost(&catalog.Units{Execution: mode, Input: inputTokens}, nil).Cost
		for name, price := range rates {
			u, less := rateUnits[name](n, inputTokens), int64(0)
			u.Execution = mode
			if strings.HasSuffix(name, "output") {
				less = input
			}
			if bill := tariff.Cost(&u, nil); bill.Reason != "" || len(bill.Unpriced) > 0 || math.Abs(float64(bill.Cost-less)-price*1000*float64(n)) > 1 {
				fields = append(fields, prefix+name)
			}
		}
	}
	check("", catalog.Standard, few, 0, m.publishedRates)
	check("batch ", catalog.Batch, few, 0, m.Batch)
	check("priority ", catalog.Priority, few, 0, m.Priority)
	check("fast ", catalog.Fast, few, 0, m.Fast)
	lower := m.publishedRates
	for _, above := range slices.SortedFunc(maps.Keys(m.Above), func(a, b string) int { return int(tokens(a) - tokens(b)) }) {
		check("up to "+above+" ", catalog.Standard, tokens(above), tokens(above), publishedRates{"input": lower["input"]})
		lower = m.Above[above]
		check("above "+above+" ", catalog.Standard, tokens(above)+1, tokens(above)+1, lower)
	}
	slices.Sort(fields)
	return fields
}

func tokens(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// listed are the differences that the file lists, by table, provider and model.
func (p *published) listed(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for _, group := range p.Differences {
		if group.Reason == "" || group.Source == "" || group.Read == "" || len(group.Of) == 0 {
			t.Errorf("a difference needs a reason, a source and the date at which it was read: %+v", group)
		}
		for name, fields := range group.Of {
			all[name] = append(all[name], fields...)
		}
	}
	for name, fields := range p.NotVerified.Of {
		all[name] = append(all[name], fields...)
	}
	for _, fields := range all {
		slices.Sort(fields)
	}
	return all
}

// The built-in prices agree with other published tables, model by model, but for differences
// that are listed: with their reason and source, or as not verified. One that is listed and
// gone is a mistake, too.
func TestBuiltinPricesAgreeWithPublishedTables(t *testing.T) {
	t.Parallel()
	var p published
	if err := json.Unmarshal(readFile(t, "testdata/second.json"), &p); err != nil {
		t.Fatal(err)
	}
	listed, compared := p.listed(t), make(map[string]bool)
	b := catalog.NewPriceList(newCatalog(&clock{}, catalog.Builtin()))
	for table, tableData := range p.Tables {
		for provider, models := range tableData.Prices {
			for model, prices := range models {
				compared[provider+" "+model] = true
				name := table + " " + provider + " " + model
				if got := prices.unequal(b.Find(provider, model, nil)); !slices.Equal(got, listed[name]) {
					t.Errorf("%s: differs in %q, and the list says in %q", name, got, listed[name])
				}
				delete(listed, name)
			}
		}
	}
	for name := range listed {
		t.Errorf("%s is listed, and no table has it", name)
	}
	if minModels := 1200; len(compared) < minModels {
		t.Errorf("%d models were compared, fewer than %d", len(compared), minModels)
	}
}
