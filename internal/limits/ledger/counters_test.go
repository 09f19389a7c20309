package ledger_test

import (
	"errors"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"sluice/internal/limits/ledger"
)

// The counters of cost come back, all others and the units do not.
func TestCostCountersComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		charges := anyLine(t).Charges
		var want []ledger.Charge
		for _, c := range charges {
			if c.Cost {
				c.Units = 0
				want = append(want, c)
			}
		}
		text := ledger.CostCounters(charges)
		got, err := ledger.ReadCostCounters(text)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" || !utf8.ValidString(text) {
			t.Fatalf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	})
}

// The texts are quoted as Go quotes them, those of plain words too.
func TestCostCountersAreQuoted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "0191f3a0-…", "0191f3a0-0003", "metadata.team:search", `say "so"`, `a\b`, "a\nb", "\x7f", "\xff", "~ !"} {
		want := strconv.Quote("c") + " " + strconv.Quote(name) + " " + strconv.Quote(name)
		if got := ledger.CostCounters([]ledger.Charge{{Subject: "c", Entry: name, ValueKey: name, Cost: true}}); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
}

func TestMalformedCostCounters(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a", `"a"`, `"a" "b"`, `"a" "b" c`, `"a" "b" "c" "d"`, "\n"} {
		if got, err := ledger.ReadCostCounters(text); !errors.Is(err, ledger.ErrMalformed) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
