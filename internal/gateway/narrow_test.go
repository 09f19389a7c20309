package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/domain/keys"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
	"sluice/internal/test/upstream"
)

const small = `{"model":"gpt-4o-mini","max_tokens":3,"messages":[{"role":"user","content":"Say hi."}]}`

// A small call passes a budget that has room for what it can really use, and for no less.
func TestSmallCallsFitWhatIsLeft(t *testing.T) {
	t.Parallel()
	standard := strings.Replace(small, "{", `{"service_tier":"default",`, 1)
	for _, c := range []struct {
		name, body string
		limit      quota.Budget
		passes     bool
	}{
		{"tokens", small, budget(quota.TokenCount, 15), true},
		{"one token too few", small, budget(quota.TokenCount, 12), false},
		{"just enough", small, budget(quota.TokenCount, 13), true},
		{"dollars", small, budget(quota.Cost, 0.000006), true}, // ten tokens of input and three of answer are $0.0000055 at the priority price
		{"dollars, too few", small, budget(quota.Cost, 0.000005), false},
		{"dollars at the standard price", standard, budget(quota.Cost, 0.000005), true}, // $0.0000033
		{"dollars at the standard price, too few", standard, budget(quota.Cost, 0.000003), false},
		{"a model whose vocabulary is not known", strings.Replace(small, "gpt-4o-mini", "gpt-oss-120b", 1), budget(quota.TokenCount, 15), false},
		{"tools", strings.Replace(small, `"max_tokens"`, `"tools":[{"type":"function","function":{"name":"f"}}],"max_tokens"`, 1), budget(quota.TokenCount, 15), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle("/v1/chat/completions", upstream.Always(chatOf(10, 3)))
			r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{c.limit}})
			a := r.call("POST", "/v1/chat/completions", c.body, r.custom()...)
			if (a.StatusCode == 200) != c.passes || !c.passes && a.StatusCode != 412 {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
		})
	}
}

// What is reserved of a small budget is at least what a call of its text costs, and a budget
// that is far from its end costs no counting.
func TestInputIsCountedWhereBudgetsAreTight(t *testing.T) {
	t.Parallel()
	for limit, want := range map[float64]int64{100: 13, 1000: int64(len(small)) + 64 + 3} {
		r := newRig(t)
		r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.TokenCount, limit)}})
		r.call("POST", "/v1/chat/completions", small, r.custom()...)
		if lines := r.journal.ledger(); len(lines) != 2 || lines[0].State != ledger.Reserved || len(lines[0].Charges) != 1 || lines[0].Charges[0].Units != want {
			t.Errorf("of %v: %+v, want %d", limit, lines, want)
		}
	}
}
