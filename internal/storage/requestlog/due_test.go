package requestlog_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/requestlog"
)

// Or and And of two times say of every row what the words say.
func TestDueOfTwo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		workspaces := []string{"a", "b", "c"}
		draw := func(name string) requestlog.RetentionCutoffs {
			day := func() time.Time { return recordtest.Epoch.AddDate(0, 0, rapid.IntRange(0, 4).Draw(rt, name)) }
			d := requestlog.RetentionCutoffs{Before: day(), Workspaces: map[string]time.Time{}}
			for _, w := range workspaces {
				if rapid.Bool().Draw(rt, name) {
					d.Workspaces[w] = day()
				}
			}
			return d
		}
		one, other := draw("one"), draw("other")
		for _, w := range workspaces {
			for day := range 5 {
				a := &record.Attempt{WorkspaceID: w, Started: recordtest.Epoch.AddDate(0, 0, day)}
				if got, want := one.And(other).Has(a), one.Has(a) && other.Has(a); got != want {
					rt.Errorf("workspace %s, day %d: both is %v, want %v", w, day, got, want)
				}
				if got, want := one.Or(other).Has(a), one.Has(a) || other.Has(a); got != want {
					rt.Errorf("workspace %s, day %d: one of them is %v, want %v", w, day, got, want)
				}
			}
		}
	})
}
