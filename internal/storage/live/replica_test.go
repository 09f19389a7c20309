package live_test

import (
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/quota"
	"sluice/internal/storage/live"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// TestMetersBesideALaggingReader: a replica that is behind what this node has stored does
// not take it back, neither when a meter changes nor at a start.
func TestMetersBesideALaggingReader(t *testing.T) {
	t.Parallel()
	primary := storetest.StartPostgres(t, nil)
	database := primary.Settings(t)
	replica := primary.Standby(t)
	database.Reader = sqlstore.Endpoint{Port: replica.Endpoint.Port}
	p := newPlaneOn(t, database)
	limiter := quota.NewLimiter()
	p.dir.Count(live.LimitOptions{Limiter: limiter, Meters: p.store})

	target := quota.Subject{Kind: keys.Kind, ID: ident.NewID(), OrgID: org, WorkspaceID: workspaceID}
	m := quota.Meter{Subject: target, BudgetKey: "b", Limit: 100}
	var made int64
	following := func(what string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			if seen, err := p.store.LastChange(t.Context()); err == nil && seen > made {
				made = seen
				return
			} else if time.Now().After(deadline) {
				t.Fatalf("the replica does not have %s after a minute: %v", what, err)
			}
		}
	}
	p.inTx(func(tx resource.Tx) error { return p.store.AddMeter(t.Context(), tx, m) })
	following("the meter")
	p.load()
	m.NextReset = noon.AddDate(0, 0, 3)
	p.inTx(func(tx resource.Tx) error { return p.store.SaveMeter(t.Context(), tx, m) })
	following("its schedule")
	replica.Admin(t, "SELECT pg_wal_replay_pause()")

	used := func(when string, target *quota.Limiter) {
		t.Helper()
		if s := target.State(noon, &quota.Hold{Counter: m.CounterID(), Limit: 100}); s.Used != 90 {
			t.Errorf("%s %d are used, not 90", when, s.Used)
		}
	}
	holds := []quota.Hold{{Counter: m.CounterID(), Limit: 100, Amount: 90}}
	limiter.Take(noon, holds)
	limiter.Settle(noon, holds, []int64{90})
	deltas := []quota.Delta{{SubjectID: target.ID, BudgetKey: "b", Units: 90, UsedAt: noon}}
	after, err := p.store.CountUsage(t.Context(), "node", noon, 0, 1, deltas)
	if err != nil {
		t.Fatal(err)
	}
	limiter.MarkFlushed(deltas, after)
	used("when it is stored", limiter)
	p.refresh()
	used("behind a look at the feed", limiter)

	next, fresh := p.another(), quota.NewLimiter()
	next.Count(live.LimitOptions{Limiter: fresh, Meters: p.store})
	if err := next.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	used("at a start", fresh)
}
