package storetest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"sluice/internal/domain/providerjob"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/quota"
	"sluice/internal/storage/sqlstore"
)

func openJob(created time.Time) *providerjob.Job {
	id := ident.NewID()
	return &providerjob.Job{ID: id, Kind: providerjob.Batch, UpstreamID: "batch_" + id, Path: "/batches/batch_" + id, WorkspaceID: ident.NewID(), Provider: "openai", Created: created.UTC(), MaxCostNano: 9,
		Charges: []providerjob.Charge{{Subject: "key", Entry: "monthly", Measure: providerjob.Cost, Units: 9}}, Input: &providerjob.Input{Lines: 1, Groups: []providerjob.Group{{Model: "gpt-4o-mini", Requests: 1}}}}
}

func isDue(t *testing.T, s *sqlstore.Store, j *providerjob.Job, node string, now, created time.Time) bool {
	t.Helper()
	list, err := s.DueJobs(t.Context(), node, now, created, 1000)
	must(t, err)
	return slices.ContainsFunc(list, func(d *providerjob.Job) bool { return d.ID == j.ID })
}

// openJobs are due when their time comes, for their node, until they are dropped.
func openJobs(t *testing.T, s *sqlstore.Store) {
	ctx, now := t.Context(), time.Date(2001, 11, 20, 10, 0, 0, 0, time.UTC) // long ago: no job of another test is due
	long := now.AddDate(-1, 0, 0)
	j, private := openJob(now), openJob(now)
	nodeID, otherNodeID := ident.NewID(), ident.NewID()
	add := func(j *providerjob.Job, node string, due time.Time) {
		t.Helper()
		_, err := s.AddJob(ctx, j, node, due, now, nil)
		must(t, err)
	}
	add(j, "", now.Add(time.Minute))
	add(j, "", now.Add(time.Hour)) // changes nothing
	add(private, nodeID, now)
	found, err := s.FindJob(ctx, j.ID)
	must(t, err)
	same(t, "found", found, j)
	same(t, "before its time", isDue(t, s, j, nodeID, now, long), false)
	same(t, "at its time", isDue(t, s, j, nodeID, now.Add(time.Minute), long), true)
	same(t, "private, on its node", isDue(t, s, private, nodeID, now, long), true)
	same(t, "private, on another node", isDue(t, s, private, otherNodeID, now, long), false)
	same(t, "private and too old, on another node", isDue(t, s, private, otherNodeID, now, now), true)

	j.Checks = 3
	must(t, s.PostponeJob(ctx, j, now.Add(time.Hour)))
	same(t, "postponed", isDue(t, s, j, nodeID, now.Add(time.Minute), long), false)
	hurried, err := s.SetJobDue(ctx, j.Key(), otherNodeID, now)
	must(t, err)
	same(t, "hurried", hurried && isDue(t, s, j, nodeID, now, long), true)
	hurried, err = s.SetJobDue(ctx, private.Key(), otherNodeID, now)
	must(t, err)
	same(t, "private, hurried on another node", hurried && isDue(t, s, private, otherNodeID, now, long), true)
	hurried, err = s.SetJobDue(ctx, providerjob.Key("another", "batch"), otherNodeID, now)
	must(t, err)
	same(t, "a job that is not there", hurried, false)
	found, err = s.FindJob(ctx, j.ID)
	must(t, err)
	same(t, "checks", found.Checks, 3)

	must(t, s.DropJob(ctx, j.ID))
	must(t, s.DropJob(ctx, j.ID))
	must(t, s.DropJob(ctx, private.ID))
	found, err = s.FindJob(ctx, j.ID)
	must(t, err)
	same(t, "dropped", found, (*providerjob.Job)(nil))
}

// settleJob changes budgets once, however often and by however many nodes a job is settled.
func settleJob(t *testing.T, s *sqlstore.Store) {
	ctx, m := t.Context(), budget(t, s)
	j := openJob(time.Now())
	for n := range 2 { // adding it again charges nothing
		after, err := s.AddJob(ctx, j, "", time.Now().Add(time.Hour), time.Now(), []quota.Delta{{SubjectID: m.ID, BudgetKey: m.BudgetKey, Units: 90, UsedAt: time.Now()}})
		must(t, err)
		if n == 0 && (len(after) != 1 || after[0].Used != 90) {
			t.Errorf("the meters are reported as %+v", after)
		}
	}
	same(t, "used while the job is open", usedOf(t, s, m.ID), int64(90))
	var all sync.WaitGroup
	var mu sync.Mutex
	reported := 0
	for range 8 {
		all.Go(func() {
			after, err := s.SettleJob(ctx, j.ID, time.Now(), []quota.Delta{{SubjectID: m.ID, BudgetKey: m.BudgetKey, Units: -60, UsedAt: time.Now()}})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if reported += len(after); len(after) > 0 && after[0].Used != 30 {
				t.Errorf("the meter is reported at %d", after[0].Used)
			}
		})
	}
	all.Wait()
	same(t, "meters that were reported", reported, 1)
	same(t, "used", usedOf(t, s, m.ID), int64(30))
	found, err := s.FindJob(ctx, j.ID)
	must(t, err)
	same(t, "settled", found.Settled, true)
	must(t, s.DropJob(ctx, j.ID))
	_, err = s.SettleJob(ctx, j.ID, time.Now(), []quota.Delta{{SubjectID: m.ID, BudgetKey: m.BudgetKey, Units: -60}})
	must(t, err)
	same(t, "used after a job that is gone is settled", usedOf(t, s, m.ID), int64(30))
}
