package gateway_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
)

// A call with many budgets is charged on the same counters with the same amounts, whether
// its lines name each of them, as those of the first call do, or have a set.
func TestLinesOfManyBudgets(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.dir.policies = new(quota.Policies)
	for i := range 12 {
		p := quota.UsageLimit{
			Conditions: []quota.Condition{{Key: "provider", Value: quota.Values{"*"}}},
			Budget:     quota.Budget{Measure: []quota.Measure{quota.Cost, quota.TokenCount, quota.Calls}[i%3], CreditLimit: 1000 * quota.One},
		}
		if i%2 == 0 {
			p.GroupBy = []quota.GroupBy{{Key: "model"}}
		}
		r.dir.policies.Usage = append(r.dir.policies.Usage, p.Compile("0191f3a0-0000-7000-8000-0000000000"+strconv.Itoa(10+i)))
	}
	for range 5 {
		if a := r.call("POST", "/v1/chat/completions", capped, r.custom()...); a.StatusCode != 200 {
			t.Fatal(a.StatusCode, a.Text)
		}
	}
	lines, rows := r.journal.ledger(), r.journal.all()
	if len(lines) != 10 || len(rows) != 5 {
		t.Fatalf("%d lines and %d records of 5 calls", len(lines), len(rows))
	}
	var reserved, closed [][]ledger.Charge
	sets := 0
	for i := range lines {
		l := &lines[i]
		if l.Set != nil {
			sets++
		}
		if l.State == ledger.Reserved {
			reserved = append(reserved, l.AllCharges())
		} else {
			closed = append(closed, l.AllCharges())
		}
	}
	for _, all := range [][][]ledger.Charge{reserved, closed} {
		if len(all) != 5 || len(all[0]) != 12 {
			t.Fatalf("%d lines with %d charges", len(all), len(all[0]))
		}
		for i := range all {
			if diff := cmp.Diff(all[0], all[i]); diff != "" {
				t.Errorf("call %d (-first +this):\n%s", i, diff)
			}
		}
	}
	if lines[0].Set != nil || sets < 6 {
		t.Errorf("%d of %d lines have a set, the first: %v", sets, len(lines), lines[0].Set != nil)
	}
	for i, c := range closed[4] {
		if want := []int64{rows[4].Spend.Cost, rows[4].Usage.TotalTokens, 1}[i%3]; c.Units != want || want == 0 {
			t.Errorf("charge %d is %d, want %d", i, c.Units, want)
		}
	}
}
