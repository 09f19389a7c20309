package record_test

import (
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/llm"
)

// What budgets were charged with is the cost, also where something that was used has no
// price; a 0 that nobody decided on is none.
func TestCostIsKnown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spend record.Spend
		nano  int64
		known bool
	}{
		{"priced", record.Spend{State: "settled", Cost: 42}, 42, true},
		{"free", record.Spend{State: "settled"}, 0, true},
		{"priced in part", record.Spend{State: "settled", Cost: 42, Unpriced: "no_rate:searches"}, 42, true},
		{"nothing of it priced", record.Spend{State: "settled", Unpriced: "no_rate:input"}, 0, false},
		{"without a price", record.Spend{State: "settled", Unpriced: "unknown_model"}, 0, false},
		{"not asked for", record.Spend{}, 0, false},
	} {
		a := record.Attempt{Usage: llm.Usage{InputTokens: 12}, Spend: c.spend}
		if nano, known := a.Cost(); nano != c.nano || known != c.known {
			t.Errorf("%s: %d, known: %v; want %d, %v", c.name, nano, known, c.nano, c.known)
		}
	}
}
