package storetest

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/quota"
	"sluice/internal/storage/sqlstore"
)

// budget adds and returns a new meter.
func budget(t *testing.T, s *sqlstore.Store) quota.Meter {
	t.Helper()
	m := quota.Meter{Subject: quota.Subject{Kind: "api_key", ID: ident.NewID(), OrgID: ident.NewID(), WorkspaceID: ident.NewID()}, BudgetKey: "monthly", Limit: 100}
	inTx(t, s, func(tx resource.Tx) error { return s.AddMeter(t.Context(), tx, m) })
	return m
}

// usedOf returns the total usage of the meters of a subject.
func usedOf(t *testing.T, s *sqlstore.Store, subjectID string) (sum int64) {
	t.Helper()
	list, err := s.Meters(t.Context(), s, quota.MeterQuery{SubjectID: subjectID})
	must(t, err)
	for _, m := range list {
		sum += m.Used
	}
	return sum
}

// countUsage checks that CountUsage adds the usage of each part of a journal exactly once.
func countUsage(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	node, m := ident.NewID(), budget(t, s)
	policy := quota.Meter{Subject: quota.Subject{Kind: quota.UsageLimitKind, ID: ident.NewID(), OrgID: m.OrgID}, Limit: 9}
	inTx(t, s, func(tx resource.Tx) error { return s.AddMeter(ctx, tx, policy) })
	deltas := []quota.Delta{
		{SubjectID: policy.ID, ValueKey: "team:search", Units: 2}, {SubjectID: m.ID, BudgetKey: m.BudgetKey, Units: 3},
		{SubjectID: m.ID, BudgetKey: m.BudgetKey, Units: 4}, {SubjectID: ident.NewID(), BudgetKey: "gone", Units: 5},
	}
	position := func() uint64 {
		t.Helper()
		seq, err := s.UsagePosition(ctx, node)
		must(t, err)
		return seq
	}
	same(t, "at first", position(), uint64(0))
	after, err := s.CountUsage(ctx, node, time.Time{}, 0, 100, deltas)
	must(t, err)
	m.Used = 7
	team := quota.Meter{Subject: policy.Subject, BudgetKey: quota.EntryOf("team:search"), ValueKey: "team:search", Used: 2, Limit: 9}
	same(t, "meters", bySubject(after), bySubject([]quota.Meter{counted(m), counted(team)}))
	same(t, "counted to", position(), uint64(100))
	for name, from := range map[string]uint64{"again from the beginning": 0, "from another place": 99} {
		_, err := s.CountUsage(ctx, node, time.Time{}, from, 200, deltas)
		wantCode(t, name, err, fault.Conflict)
	}
	same(t, "used", usedOf(t, s, m.ID), int64(7))
	again, err := s.CountUsage(ctx, node, time.Time{}, 0, 100, deltas)
	must(t, err)
	same(t, "meters of a call that is made again", again, after)
	after, err = s.CountUsage(ctx, node, time.Time{}, 100, 200, nil)
	must(t, err)
	same(t, "meters of nothing", len(after), 0)
	same(t, "at last", position(), uint64(200))
}

// countedMeters checks that CountUsage returns the meters as they are stored, also those that
// it reset and counters that it created.
func countedMeters(t *testing.T, s *sqlstore.Store) {
	ctx, node := t.Context(), ident.NewID()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var names []quota.Delta
	for i := range 5 {
		for _, kind := range []string{quota.UsageLimitKind, "api_key"} {
			m := quota.Meter{Subject: quota.Subject{Kind: kind, ID: ident.NewID(), OrgID: ident.NewID()}, Limit: 1000, NextReset: start.Add(time.Duration(i) * 10 * time.Minute)}
			if kind == "api_key" {
				m.BudgetKey = "monthly"
				names = append(names, quota.Delta{SubjectID: m.ID, BudgetKey: m.BudgetKey})
			} else {
				names = append(names, quota.Delta{SubjectID: m.ID, ValueKey: "team:a"}, quota.Delta{SubjectID: m.ID, ValueKey: "team:b"})
			}
			inTx(t, s, func(tx resource.Tx) error { return s.AddMeter(ctx, tx, m) })
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for round := range uint64(25) {
		var deltas []quota.Delta
		stored := map[string]quota.Meter{}
		for _, d := range names {
			for range random.IntN(3) {
				d.Units, d.UsedAt = random.Int64N(50)-10, start.Add(time.Duration(random.IntN(60))*time.Minute)
				deltas = append(deltas, d)
			}
		}
		after, err := s.CountUsage(ctx, node, start.Add(time.Hour), round, round+1, deltas)
		must(t, err)
		for _, d := range deltas {
			q := quota.MeterQuery{SubjectID: d.SubjectID, Counters: true}
			list, err := s.Meters(ctx, s, q)
			must(t, err)
			for _, m := range list {
				if d.BudgetKey == m.BudgetKey || d.ValueKey != "" && d.ValueKey == m.ValueKey {
					stored[m.ID+m.BudgetKey] = counted(m)
				}
			}
		}
		same(t, "meters", bySubject(after), stored)
	}
}

// counted returns m with only the fields that CountUsage returns.
func counted(m quota.Meter) quota.Meter {
	return quota.Meter{
		Subject: quota.Subject{ID: m.ID, OrgID: m.OrgID}, BudgetKey: m.BudgetKey, ValueKey: m.ValueKey,
		Used: m.Used, LastReset: m.LastReset, NextReset: m.NextReset,
	}
}

func bySubject(list []quota.Meter) map[string]quota.Meter {
	out := map[string]quota.Meter{}
	for _, m := range list {
		out[m.ID+m.BudgetKey] = m
	}
	return out
}

// manyMeters counts usage of more meters than one statement updates. Each meter must get
// only its own usage.
func manyMeters(t *testing.T, s *sqlstore.Store) {
	ctx, node := t.Context(), ident.NewID()
	subject, other := quota.Subject{Kind: "api_key", ID: ident.NewID(), OrgID: ident.NewID()}, budget(t, s)
	var deltas []quota.Delta
	inTx(t, s, func(tx resource.Tx) error {
		for i := range 450 {
			m := quota.Meter{Subject: subject, BudgetKey: "b" + strconv.Itoa(i), Limit: 1 << 40}
			if err := s.AddMeter(ctx, tx, m); err != nil {
				return err
			}
			deltas = append(deltas, quota.Delta{SubjectID: subject.ID, BudgetKey: m.BudgetKey, Units: int64(i) + 1, UsedAt: noon})
		}
		return nil
	})
	deltas = append(deltas, quota.Delta{SubjectID: subject.ID, BudgetKey: "gone", Units: 7, UsedAt: noon})
	for round := range uint64(2) {
		after, err := s.CountUsage(ctx, node, noon, round, round+1, deltas)
		must(t, err)
		same(t, "meters", len(after), 450)
		for _, m := range after {
			i, err := strconv.Atoi(m.BudgetKey[1:])
			must(t, err)
			same(t, "used of "+m.BudgetKey, m.Used, int64(round+1)*int64(i+1))
		}
	}
	list, err := s.Meters(ctx, s, quota.MeterQuery{SubjectID: subject.ID, Limit: 1000})
	must(t, err)
	for _, m := range list {
		i, err := strconv.Atoi(m.BudgetKey[1:])
		must(t, err)
		same(t, "stored of "+m.BudgetKey, m.Used, 2*int64(i+1))
	}
	same(t, "of another carrier", usedOf(t, s, other.ID), int64(0))
}

// lateUsage checks that usage from before a reset does not count after it.
func lateUsage(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	m, other := budget(t, s), budget(t, s)
	inTx(t, s, func(tx resource.Tx) error { return s.ResetMeters(ctx, tx, m.ID, noon) })
	deltaAt := func(id string, units int64, when time.Time) quota.Delta {
		return quota.Delta{SubjectID: id, BudgetKey: m.BudgetKey, Units: units, UsedAt: when}
	}
	node := ident.NewID()
	_, err := s.CountUsage(ctx, node, time.Time{}, 0, 1, []quota.Delta{
		deltaAt(m.ID, 1, noon.Add(-time.Millisecond)), deltaAt(m.ID, 10, noon), deltaAt(m.ID, 100, noon.Add(time.Hour)), deltaAt(m.ID, 1000, time.Time{}),
		deltaAt(other.ID, 7, noon.AddDate(-1, 0, 0)),
		{SubjectID: m.ID, BudgetKey: m.BudgetKey, Units: 61_000, UsedAt: noon.Add(time.Minute), Runs: []quota.Run{
			{UsedAtMS: noon.Add(-time.Second).UnixMilli(), Units: 50_000}, {UsedAtMS: noon.Add(time.Minute).UnixMilli(), Units: 10_000}, {UsedAtMS: noon.UnixMilli(), Units: 1000},
		}},
	})
	must(t, err)
	same(t, "behind the reset", usedOf(t, s, m.ID), int64(12_110))
	same(t, "of a meter that was never reset", usedOf(t, s, other.ID), int64(7))
}

// usageBelowAReset checks that usage counts before a reset that is still in the future, made
// by a clock that ran ahead. Otherwise no usage would count until then, and the budget would
// not limit any call.
func usageBelowAReset(t *testing.T, s *sqlstore.Store) {
	ctx, node := t.Context(), ident.NewID()
	m := budget(t, s)
	inTx(t, s, func(tx resource.Tx) error { return s.ResetMeters(ctx, tx, m.ID, noon.AddDate(0, 0, 40)) })
	used := []quota.Delta{{SubjectID: m.ID, BudgetKey: m.BudgetKey, Units: 5, UsedAt: noon}}
	_, err := s.CountUsage(ctx, node, noon.Add(time.Second), 0, 1, used)
	must(t, err)
	same(t, "while the reset is to come", usedOf(t, s, m.ID), int64(5))
	_, err = s.CountUsage(ctx, node, noon.AddDate(0, 0, 40), 1, 2, used)
	must(t, err)
	same(t, "once it has come", usedOf(t, s, m.ID), int64(5))
}

// usageOfNodes checks that the usage of several nodes that count at once is complete. Each
// node counts exactly once, although two processes count for it.
func usageOfNodes(t *testing.T, s *sqlstore.Store) {
	const nodes, rounds = 4, 10
	m, other := budget(t, s), budget(t, s)
	names := make([]string, nodes)
	for i := range names {
		names[i] = ident.NewID()
	}
	var wg sync.WaitGroup
	errs := make([]error, 2*nodes)
	for w := range errs {
		wg.Go(func() {
			deltas := []quota.Delta{{SubjectID: m.ID, BudgetKey: m.BudgetKey, Units: 1, UsedAt: noon}, {SubjectID: other.ID, BudgetKey: other.BudgetKey, Units: 2, UsedAt: noon}}
			if w%2 == 0 {
				deltas[0], deltas[1] = deltas[1], deltas[0]
			}
			errs[w] = countRounds(t.Context(), s, names[w%nodes], rounds, deltas)
		})
	}
	wg.Wait()
	for _, err := range errs {
		must(t, err)
	}
	same(t, "used", usedOf(t, s, m.ID), int64(nodes*rounds))
	same(t, "used of the other", usedOf(t, s, other.ID), int64(2*nodes*rounds))
}

// countRounds calls CountUsage until the position of the node is rounds. Each call moves it
// by one.
func countRounds(ctx context.Context, s *sqlstore.Store, node string, rounds uint64, deltas []quota.Delta) error {
	for {
		deltaAt, err := s.UsagePosition(ctx, node)
		if err != nil || deltaAt >= rounds {
			return err
		}
		if _, err := s.CountUsage(ctx, node, time.Time{}, deltaAt, deltaAt+1, deltas); err != nil && !fault.Has(err, fault.Conflict) {
			return err
		}
	}
}
