package live_test

import (
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/quota"
	"sluice/internal/storage/live"
)

// TestUsageTakenBack: a node that has nothing to store of a budget hears that another one
// took back what was used of it, because a price was wrong. It would refuse for ever: what
// it refuses it never stores.
func TestUsageTakenBack(t *testing.T) {
	t.Parallel()
	p, limiter := counted(t, live.LimitOptions{})
	subject := quota.Subject{Kind: keys.Kind, ID: ident.NewID(), OrgID: org, WorkspaceID: workspaceID}
	m := quota.Meter{Subject: subject, BudgetKey: "b", Limit: 100}
	p.inTx(func(tx resource.Tx) error { return p.store.AddMeter(t.Context(), tx, m) })
	count := func(from, to uint64, units int64, when time.Time) {
		t.Helper()
		if _, err := p.store.CountUsage(t.Context(), "another", noon, from, to, []quota.Delta{{SubjectID: subject.ID, BudgetKey: "b", Units: units, UsedAt: when}}); err != nil {
			t.Fatal(err)
		}
	}
	count(0, 1, 100, noon)
	p.load()
	refused := func() bool {
		no, _, _ := limiter.Take(noon, []quota.Hold{{Counter: m.CounterID(), Limit: 100}})
		return no >= 0
	}
	if !refused() {
		t.Error("a budget that is used up lets a call through")
	}
	count(1, 2, -40, noon)
	p.refresh()
	if s := limiter.State(noon, &quota.Hold{Counter: m.CounterID(), Limit: 100}); s.Used != 60 || refused() {
		t.Errorf("%d are used, want 60", s.Used)
	}
}
