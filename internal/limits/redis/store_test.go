package redis_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/quota"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// TestBooksAreTheStore: the store that the worlds of this package have counts and resets as
// each database does.
func TestBooksAreTheStore(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]func(testing.TB) sqlstore.Settings{
		sqlstore.SQLite: storetest.SQLite, sqlstore.Postgres: storetest.Postgres, sqlstore.MySQL: storetest.MySQL,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same := &ledgers{TB: t, store: storetest.Open(t, settings(t)), now: time.Now().UTC().Truncate(time.Millisecond), node: ident.NewID()}
			same.run(rand.New(rand.NewPCG(1, 2)))
		})
	}
}

// ledgers are a store, and the books that must say the same of one budget.
type ledgers struct {
	testing.TB
	store    *sqlstore.Store
	books    books
	now      time.Time
	node     string
	position uint64 // in the journal of the node
}

func (l *ledgers) run(r *rand.Rand) {
	m := quota.Meter{Subject: quota.Subject{Kind: "api_key", ID: ident.NewID(), OrgID: ident.NewID()}, BudgetKey: "b", Limit: 1 << 40}
	l.books.set(m)
	l.inTx(func(tx resource.Tx) error { return l.store.AddMeter(l.Context(), tx, m) })
	for range 150 {
		l.now = l.now.Add(time.Duration(1+r.IntN(20)) * time.Minute)
		switch r.IntN(6) {
		case 0:
			l.change(m, func(m *quota.Meter) { m.Reset(l.now) })
		case 1:
			next := l.now.Add(time.Duration(r.IntN(60)) * time.Minute)
			l.change(m, func(m *quota.Meter) { m.NextReset = next })
		case 2:
			l.change(m, func(m *quota.Meter) {
				if m.Due(l.now) {
					m.Renew(m.NextReset)
					m.NextReset = time.Time{}
				}
			})
		default:
			l.count(m, r)
		}
	}
}

// count counts usage of the last hour.
func (l *ledgers) count(m quota.Meter, r *rand.Rand) {
	var deltas []quota.Delta
	for range 1 + r.IntN(4) {
		usedAt := l.now.Add(-time.Duration(r.IntN(60)) * time.Minute)
		deltas = append(deltas, quota.Delta{SubjectID: m.ID, BudgetKey: m.BudgetKey, Units: 1 + r.Int64N(50), UsedAt: usedAt})
	}
	after, err := l.store.CountUsage(l.Context(), l.node, l.now, l.position, l.position+1, deltas)
	if err != nil || len(after) != 1 {
		l.Fatal(after, err)
	}
	l.position++
	want := l.books.add(deltas...)
	l.alike(want[len(want)-1], after[0])
}

// change changes the meter.
func (l *ledgers) change(m quota.Meter, how func(*quota.Meter)) {
	want, _, _ := l.books.meter(l.Context(), m.CounterID()) // they do not fail
	how(&want)
	l.books.set(want)
	l.inTx(func(tx resource.Tx) error {
		list, err := l.store.Meters(l.Context(), tx, quota.MeterQuery{SubjectID: m.ID})
		if err != nil {
			return err
		}
		how(&list[0])
		l.alike(want, list[0])
		return l.store.SaveMeter(l.Context(), tx, list[0])
	})
}

func (l *ledgers) alike(want, got quota.Meter) {
	l.Helper()
	type meterState struct {
		Used        int64
		Last, Again time.Time
	}
	if diff := cmp.Diff(meterState{want.Used, want.LastReset, want.NextReset}, meterState{got.Used, got.LastReset, got.NextReset}); diff != "" {
		l.Fatal("the books (-), the store (+):", diff)
	}
}

func (l *ledgers) inTx(f func(resource.Tx) error) {
	l.Helper()
	if err := l.store.InTx(l.Context(), f); err != nil {
		l.Fatal(err)
	}
}
