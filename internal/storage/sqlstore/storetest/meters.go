package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/quota"
	"sluice/internal/storage/sqlstore"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// meters checks that meters are stored unchanged, that each filter selects them, and that
// DropMeters deletes them.
func meters(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	subject := quota.Subject{Kind: "api_key", ID: ident.NewID(), OrgID: ident.NewID(), WorkspaceID: ident.NewID()}
	full := quota.Meter{
		Subject: subject, BudgetKey: "a", ValueKey: "model:Öl 100%", Used: 7, Limit: 9, Threshold: 8, Exhausted: true, ThresholdAlert: true, ExhaustedAlert: true,
		LastReset: noon, NextReset: noon.AddDate(0, 0, 3),
	}
	plain := quota.Meter{Subject: subject, BudgetKey: "b", Limit: 1}
	plain.WorkspaceID = ident.NewID()
	inTx(t, s, func(tx resource.Tx) error { return s.AddMeter(ctx, tx, full) })
	inTx(t, s, func(tx resource.Tx) error { return s.AddMeter(ctx, tx, plain) })
	wantCode(t, "add again", s.InTx(ctx, func(tx resource.Tx) error { return s.AddMeter(ctx, tx, plain) }), fault.Conflict)
	find := func(from resource.Reader, q quota.MeterQuery) []quota.Meter {
		t.Helper()
		q.SubjectID = subject.ID
		list, err := s.Meters(ctx, from, q)
		must(t, err)
		n, err := s.CountMeters(ctx, from, q)
		must(t, err)
		same(t, "count", n, len(list))
		return list
	}
	yes, no := true, false
	both := []quota.Meter{full, plain}
	for name, c := range map[string]struct {
		q    quota.MeterQuery
		want []quota.Meter
	}{
		"all": {quota.MeterQuery{}, both}, "one workspace": {quota.MeterQuery{WorkspaceID: plain.WorkspaceID}, both[1:]}, "entries": {quota.MeterQuery{Entries: []string{"a"}}, both[:1]},
		"exhausted": {quota.MeterQuery{Exhausted: &yes}, both[:1]}, "active": {quota.MeterQuery{Exhausted: &no}, both[1:]},
		"search": {quota.MeterQuery{Search: "ÖL 100%"}, both[:1]}, "search of no wildcard": {quota.MeterQuery{Search: "_l"}, []quota.Meter{}},
		"due": {quota.MeterQuery{DueBy: full.NextReset}, both[:1]}, "not due": {quota.MeterQuery{DueBy: full.NextReset.Add(-time.Second)}, []quota.Meter{}},
		"behind": {quota.MeterQuery{After: &full}, both[1:]}, "the most used": {quota.MeterQuery{SortByUsage: true}, both}, "reached": {quota.MeterQuery{Reached: true}, []quota.Meter{}},
	} {
		same(t, name, find(s, c.q), c.want)
	}
	inTx(t, s, func(tx resource.Tx) error {
		m := find(tx, quota.MeterQuery{Entries: []string{"b"}})[0]
		m.Used = 1
		return s.SaveMeter(ctx, tx, m)
	})
	plain.Used = 1
	same(t, "reached", find(s, quota.MeterQuery{Reached: true}), []quota.Meter{plain})
	must(t, s.AddUsage(ctx, []quota.Delta{{SubjectID: subject.ID, BudgetKey: "b", Units: 2}, {SubjectID: subject.ID, BudgetKey: "b", Units: 3}, {SubjectID: subject.ID, BudgetKey: "gone", Units: 5}}))
	plain.Used = 6
	same(t, "below a mark that was noticed", find(s, quota.MeterQuery{Relieved: true}), []quota.Meter{full})
	must(t, s.AddUsage(ctx, []quota.Delta{{SubjectID: subject.ID, BudgetKey: full.BudgetKey, Units: 2}}))
	same(t, "at the mark", find(s, quota.MeterQuery{Relieved: true}), []quota.Meter{})
	must(t, s.AddUsage(ctx, []quota.Delta{{SubjectID: subject.ID, BudgetKey: full.BudgetKey, Units: -2}}))
	same(t, "with usage", find(s, quota.MeterQuery{}), []quota.Meter{full, plain})
	inTx(t, s, func(tx resource.Tx) error { return s.DropMeters(ctx, tx, subject.ID, plain.WorkspaceID) })
	same(t, "dropped in one workspace", find(s, quota.MeterQuery{}), both[:1])
	inTx(t, s, func(tx resource.Tx) error { return s.DropMeters(ctx, tx, subject.ID, "", "b") })
	same(t, "another entry dropped", find(s, quota.MeterQuery{}), both[:1])
	inTx(t, s, func(tx resource.Tx) error { return s.DropMeters(ctx, tx, subject.ID, "") })
	same(t, "dropped", find(s, quota.MeterQuery{}), []quota.Meter{})
}

// renewals checks resets that are due. Usage after the reset counts in the new period, also
// when the worker resets the meter later. Usage before it does not count.
func renewals(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	key := quota.Subject{Kind: "api_key", ID: ident.NewID(), OrgID: ident.NewID()}
	policy := quota.Subject{Kind: quota.UsageLimitKind, ID: ident.NewID(), OrgID: ident.NewID(), WorkspaceID: ident.NewID()}
	inTx(t, s, func(tx resource.Tx) error {
		if err := s.AddMeter(ctx, tx, quota.Meter{Subject: policy, Limit: 50, NextReset: noon}); err != nil {
			return err
		}
		return s.AddMeter(ctx, tx, quota.Meter{Subject: key, BudgetKey: "b", Used: 50, Limit: 50, Exhausted: true, ExhaustedAlert: true, NextReset: noon})
	})
	must(t, s.AddUsage(ctx, []quota.Delta{{SubjectID: policy.ID, ValueKey: "team:old", Units: 9}}))
	flush := func(at time.Time, units int64) func(tx resource.Tx) error {
		return func(tx resource.Tx) error {
			return s.AddUsageIn(ctx, tx, time.Time{}, []quota.Delta{
				{SubjectID: policy.ID, ValueKey: "team:new", Units: units, UsedAt: at}, {SubjectID: policy.ID, ValueKey: "team:old", Units: units, UsedAt: at},
				{SubjectID: key.ID, BudgetKey: "b", Units: 100 + units, UsedAt: at, Runs: []quota.Run{{UsedAtMS: noon.UnixMilli() - 1, Units: 100}, {UsedAtMS: at.UnixMilli(), Units: units}}},
			})
		}
	}
	check := func(name string, want map[string]int64) {
		t.Helper()
		got := map[string]int64{}
		for _, subject := range []string{key.ID, policy.ID} {
			list, err := s.Meters(ctx, s, quota.MeterQuery{SubjectID: subject, Counters: true})
			must(t, err)
			for _, m := range list {
				got[m.ValueKey] = m.Used
				same(t, name+": last reset", m.LastReset, noon)
				same(t, name+": exhausted", m.Exhausted || m.ExhaustedAlert, false)
			}
		}
		same(t, name, got, want)
	}
	inTx(t, s, flush(noon, 7))
	check("used at the reset", map[string]int64{"": 7, "team:new": 7, "team:old": 7})
	inTx(t, s, func(tx resource.Tx) error { return s.ResetMeters(ctx, tx, policy.ID, noon) })
	inTx(t, s, flush(noon.Add(time.Second), 2))
	check("behind the worker", map[string]int64{"": 9, "team:new": 9, "team:old": 9})
}

// meterFeed checks what the change feed reports: meters that are added, deleted, reset or
// rescheduled, negative usage, and usage from AddUsage. The feed must not report usage that
// a flush adds, or changes of flags and limits.
func meterFeed(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	subject := quota.Subject{Kind: "usage_limit_policy", ID: ident.NewID(), OrgID: ident.NewID(), WorkspaceID: ident.NewID()}
	m := quota.Meter{Subject: subject, BudgetKey: "a", Limit: 10}
	for _, c := range []struct {
		name       string
		do         func(tx resource.Tx) error
		isReported bool
	}{
		{"added", func(tx resource.Tx) error { return s.AddMeter(ctx, tx, m) }, true},
		{"flushed", func(tx resource.Tx) error {
			m.Used = 5
			return s.AddUsageIn(ctx, tx, time.Time{}, []quota.Delta{{SubjectID: subject.ID, BudgetKey: "a", Units: 5}})
		}, false},
		{"taken back", func(tx resource.Tx) error {
			m.Used = 3
			return s.AddUsageIn(ctx, tx, time.Time{}, []quota.Delta{{SubjectID: subject.ID, BudgetKey: "a", Units: -2}})
		}, true},
		{"noticed", func(tx resource.Tx) error { m.Exhausted = true; return s.SaveMeter(ctx, tx, m) }, false},
		{"retuned", func(tx resource.Tx) error { return s.RetuneMeters(ctx, tx, m, m) }, false},
		{"rescheduled", func(tx resource.Tx) error { m.NextReset = noon; return s.SaveMeter(ctx, tx, m) }, true},
		{"reset", func(tx resource.Tx) error { m.Reset(noon); return s.SaveMeter(ctx, tx, m) }, true},
		{"all reset", func(tx resource.Tx) error { return s.ResetMeters(ctx, tx, subject.ID, noon) }, true},
		{"dropped", func(tx resource.Tx) error { return s.DropMeters(ctx, tx, subject.ID, "") }, true},
	} {
		last, err := s.LastChange(ctx)
		must(t, err)
		inTx(t, s, c.do)
		reported := slices.ContainsFunc(changesAfter(t, s, last), func(ch resource.Change) bool { return ch.Kind == quota.MeterKind && ch.ID == subject.ID })
		same(t, c.name, reported, c.isReported)
	}
	last, err := s.LastChange(ctx)
	must(t, err)
	must(t, s.AddUsage(ctx, []quota.Delta{{SubjectID: subject.ID, BudgetKey: "a", Units: 5}}))
	same(t, "added apart from the flush", len(changesAfter(t, s, last)) > 0, true)
}

func changesAfter(t *testing.T, s *sqlstore.Store, after int64) []resource.Change {
	t.Helper()
	list, err := s.Changes(t.Context(), after, 1000)
	must(t, err)
	return list
}

// policyMeters checks that the counters of a policy start with the limits of the head and
// follow later changes of them.
func policyMeters(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	head := quota.Meter{Subject: quota.Subject{Kind: quota.UsageLimitKind, ID: ident.NewID(), OrgID: ident.NewID()}, Limit: 100, Threshold: 80, NextReset: noon}
	add := func(key string, units int64) {
		must(t, s.AddUsage(ctx, []quota.Delta{{SubjectID: head.ID, ValueKey: key, Units: units}}))
	}
	list := func() []quota.Meter {
		t.Helper()
		out, err := s.Meters(ctx, s, quota.MeterQuery{SubjectID: head.ID, Counters: true, SortByUsage: true})
		must(t, err)
		return out
	}
	add("before there is a head", 5)
	same(t, "without a head", list(), []quota.Meter{})
	inTx(t, s, func(tx resource.Tx) error { return s.AddMeter(ctx, tx, head) })
	add("team:search", 90)
	add("team:ranking", 20)
	add("team:search", 20)
	search := quota.Meter{Subject: head.Subject, BudgetKey: quota.EntryOf("team:search"), ValueKey: "team:search", Used: 110, Limit: 100, Threshold: 80}
	ranking := quota.Meter{Subject: head.Subject, BudgetKey: quota.EntryOf("team:ranking"), ValueKey: "team:ranking", Used: 20, Limit: 100, Threshold: 80}
	same(t, "counted", list(), []quota.Meter{search, ranking})
	search.Check()
	inTx(t, s, func(tx resource.Tx) error { return s.SaveMeter(ctx, tx, search) })
	for name, limits := range map[string][2]int64{"lower": {90, 80}, "higher": {200, 80}, "a higher threshold": {200, 150}, "none": {200, 0}} {
		before := search
		to := head
		to.Limit, to.Threshold = limits[0], limits[1]
		inTx(t, s, func(tx resource.Tx) error { return s.RetuneMeters(ctx, tx, before, to) })
		search.SetLimits(to.Limit, to.Threshold)
		ranking.SetLimits(to.Limit, to.Threshold)
		same(t, name, list(), []quota.Meter{search, ranking})
		search.Check()
		inTx(t, s, func(tx resource.Tx) error { return s.SaveMeter(ctx, tx, search) })
	}
	inTx(t, s, func(tx resource.Tx) error { return s.ResetMeters(ctx, tx, head.ID, noon) })
	search.Reset(noon)
	ranking.Reset(noon)
	for _, m := range list() {
		if m.Used != 0 || m.Exhausted || m.ThresholdAlert || m.ExhaustedAlert || !m.LastReset.Equal(noon) {
			t.Errorf("reset to %+v", m)
		}
	}
}

// usageOfMany checks that no usage is missing after several writers added to the same meters
// in different orders.
func usageOfMany(t *testing.T, s *sqlstore.Store) {
	const writers, rounds = 6, 8
	head := quota.Meter{Subject: quota.Subject{Kind: quota.UsageLimitKind, ID: ident.NewID(), OrgID: ident.NewID()}, Limit: 1}
	inTx(t, s, func(tx resource.Tx) error { return s.AddMeter(t.Context(), tx, head) })
	var wg sync.WaitGroup
	errs := make([]error, writers)
	for w := range writers {
		wg.Go(func() { errs[w] = addRounds(t.Context(), s, head.ID, w, rounds) })
	}
	wg.Wait()
	for _, err := range errs {
		must(t, err)
	}
	list, err := s.Meters(t.Context(), s, quota.MeterQuery{SubjectID: head.ID, Counters: true})
	must(t, err)
	sum := int64(0)
	for _, m := range list {
		sum += m.Used
	}
	same(t, "meters", len(list), rounds+1)
	same(t, "sum", sum, int64(writers*rounds*3))
}

// addRounds adds to a meter that all writers share and to one meter for each round. The
// order of the two depends on whether w is even.
func addRounds(ctx context.Context, s *sqlstore.Store, subjectID string, w, rounds int) error {
	for i := range rounds {
		deltas := []quota.Delta{{SubjectID: subjectID, ValueKey: "shared", Units: 1}, {SubjectID: subjectID, ValueKey: fmt.Sprint("round ", i), Units: 2}}
		if w%2 == 0 {
			deltas[0], deltas[1] = deltas[1], deltas[0]
		}
		if err := s.AddUsage(ctx, deltas); err != nil {
			return err
		}
	}
	return nil
}

func inTx(t *testing.T, s *sqlstore.Store, f func(resource.Tx) error) {
	t.Helper()
	must(t, s.InTx(t.Context(), f))
}
