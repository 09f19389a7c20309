package redis_test

import (
	"testing"
	"time"

	"sluice/internal/limits/quota"
	"sluice/internal/limits/redistest"
)

// eve is two nodes that share a budget of 100, an hour before its reset, and the wire by
// which the first of them reaches Redis.
type eve struct {
	*clock
	server       *redistest.Server
	store        *books
	wire         *redistest.Wire
	first, other *node
}

func newEve(t *testing.T) *eve {
	e := &eve{clock: &clock{now: time.Now().Truncate(time.Millisecond)}, server: redistest.Start(t), store: new(books)}
	e.wire = redistest.NewWire(t, e.server)
	m := quota.Meter{Subject: quota.Subject{ID: "k", OrgID: "o"}, BudgetKey: "b", NextReset: e.Now().Add(time.Hour)}
	e.store.set(m)
	e.first, e.other = e.boot(t, "a", e.wire.Address), e.boot(t, "b", e.server.Address)
	return e
}

// boot starts a node that has read the store.
func (e *eve) boot(t *testing.T, name, address string) *node {
	o := options(name, redisServer(address), e.store)
	o.Clock, o.Alone = e.clock, true
	m, _, _ := e.store.meter(t.Context(), hold(0).Counter)
	o.Local.Load([]quota.Meter{m})
	return start(t, o)
}

// use makes a call of the first node that is under way until a time, and waits until Redis
// knows it.
func (e *eve) use(t *testing.T, units int64, until time.Duration) {
	t.Helper()
	taken, refused, _ := e.first.take(t, e.Now(), hold(units))
	if refused >= 0 {
		t.Fatal("a call of", units, "is refused")
	}
	e.forward(until)
	e.first.Settle(e.Now(), taken, []int64{units})
}

// change changes what the store has, and tells both nodes.
func (e *eve) change(t *testing.T, how func(*quota.Meter)) quota.Meter {
	t.Helper()
	m, _, _ := e.store.meter(t.Context(), hold(0).Counter)
	how(&m)
	e.store.set(m)
	for _, n := range []*node{e.first, e.other} {
		n.Replace("k", []quota.Meter{m})
		eventually(t, "the change is said", n.IsPublished)
	}
	return m
}

// resetByHand has the store reset the budget, and tells nobody.
func (e *eve) resetByHand(t *testing.T) quota.Meter {
	e.forward(time.Second)
	m, _, _ := e.store.meter(t.Context(), hold(0).Counter)
	m.Reset(e.Now())
	e.store.set(m)
	return m
}

// awaitPublished waits until Redis knows what the first node has.
func (e *eve) awaitPublished(t *testing.T) {
	t.Helper()
	eventually(t, "the first node has said everything", func() bool { return e.first.Err() == nil && e.first.IsPublished() })
}

// TestEndsBehindDue: what a call uses that ends behind a reset counts in the new period,
// though nobody took from the budget since.
func TestEndsBehindDue(t *testing.T) {
	t.Parallel()
	e := newEve(t)
	e.use(t, 40, 0)
	e.use(t, 60, time.Hour)
	e.awaitPublished(t)
	if left := e.other.left(t, hold(0)); left != 40 {
		t.Error("behind the reset are left", left)
	}
}

// TestCutOverDue: of a node that was cut off over a reset counts at least what it used
// behind that, and what Redis knew of it before does not.
func TestCutOverDue(t *testing.T) {
	t.Parallel()
	e := newEve(t)
	e.use(t, 40, 0)
	e.awaitPublished(t)
	e.wire.Cut()
	eventually(t, "the node knows that it is cut off", func() bool { return e.first.Err() != nil })
	e.use(t, 50, time.Hour)
	e.wire.Restore()
	e.awaitPublished(t)
	if left := e.other.left(t, hold(0)); left != 50 {
		t.Error("behind the reset are left", left)
	}
}

// TestLostBehindDue: a Redis that loses everything behind a reset that is not stored has no
// more left than there is.
func TestLostBehindDue(t *testing.T) {
	t.Parallel()
	e := newEve(t)
	e.use(t, 50, time.Hour)
	e.awaitPublished(t)
	e.server.Wipe(t)
	eventually(t, "both are back", func() bool {
		_, _, _, err := e.first.Reserve(t.Context(), e.Now(), []quota.Hold{hold(1 << 50)})
		return err == nil && e.first.IsPublished() && e.other.IsPublished()
	})
	if left := e.other.left(t, hold(0)); left != 50 {
		t.Error("behind the reset are left", left)
	}
}

// TestLivesOverDue: what a node used before a reset, and stored only when it began anew behind
// that, does not count.
func TestLivesOverDue(t *testing.T) {
	t.Parallel()
	e := newEve(t)
	e.use(t, 40, 0)
	e.awaitPublished(t)
	early := quota.Delta{SubjectID: "k", BudgetKey: "b", Units: 40, UsedAt: e.Now()}
	e.forward(time.Hour)
	e.other.take(t, e.Now(), hold(10))
	e.first.stop()
	e.store.add(early)
	e.first = e.boot(t, "a", e.wire.Address)
	e.awaitPublished(t)
	if left := e.other.left(t, hold(0)); left != 90 {
		t.Error("behind the reset are left", left)
	}
}

// TestEarlyOfOthers: what a node used before a reset and has not stored yet does not count
// behind it, whoever stores the reset, by schedule or by hand.
func TestEarlyOfOthers(t *testing.T) {
	t.Parallel()
	for name, reset := range map[string]func(*eve) quota.Meter{
		"by schedule": func(e *eve) quota.Meter {
			e.forward(time.Hour)
			return e.store.add(quota.Delta{SubjectID: "k", BudgetKey: "b", UsedAt: e.Now()})[0]
		},
		"by hand": func(e *eve) quota.Meter {
			m := e.resetByHand(t)
			e.first.Replace("k", []quota.Meter{m})
			return m
		},
		"by hand, and it hears of that when it stores": func(e *eve) quota.Meter { return e.resetByHand(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEve(t)
			e.use(t, 40, 0)
			e.awaitPublished(t)
			m := reset(e)
			if m.Due(e.Now()) && e.other.left(t, hold(0)) != 100 {
				t.Error("the reset does not take place")
			}
			e.other.Replace("k", []quota.Meter{m})
			eventually(t, "the reset is said", func() bool { return e.first.IsPublished() && e.other.IsPublished() })
			if left := e.other.left(t, hold(0)); left != 100 {
				t.Error("behind the reset are left", left)
			}
			e.use(t, 30, 0)
			e.awaitPublished(t)
			early := quota.Delta{SubjectID: "k", BudgetKey: "b", Units: 40, UsedAt: e.Now().Add(-2 * time.Hour)}
			e.first.MarkFlushed([]quota.Delta{early}, e.store.add(early))
			eventually(t, "what was early is stored", e.first.IsPublished)
			if left := e.other.left(t, hold(0)); left != 70 {
				t.Error("when all is stored are left", left)
			}
		})
	}
}

// TestStoredBehindLostDue: a budget that Redis lost behind a reset that is not stored, and of
// which a node then stored what it used before that, has no more left than there is.
func TestStoredBehindLostDue(t *testing.T) {
	t.Parallel()
	e := newEve(t)
	e.use(t, 40, 0)
	early := quota.Delta{SubjectID: "k", BudgetKey: "b", Units: 40, UsedAt: e.Now()}
	e.use(t, 50, time.Hour)
	e.awaitPublished(t)
	e.server.Wipe(t)
	for _, n := range []*node{e.first, e.other} { // each finds out, and does not ask for the budget
		other := hold(1 << 50)
		other.Counter.Subject = "other"
		n.take(t, e.Now(), other)
	}
	e.first.MarkFlushed([]quota.Delta{early}, e.store.add(early))
	e.awaitPublished(t)
	if left := e.other.left(t, hold(0)); left != 50 {
		t.Error("behind the reset are left", left)
	}
}

// TestStoredBehindTwoResets: what a node used before a reset by hand, and stores behind one by
// schedule that is not stored, is in no period, and nothing of the present one is waived for it.
func TestStoredBehindTwoResets(t *testing.T) {
	t.Parallel()
	e := newEve(t)
	e.use(t, 30, 0)
	early := quota.Delta{SubjectID: "k", BudgetKey: "b", Units: 30, UsedAt: e.Now()}
	e.awaitPublished(t)
	e.forward(time.Second)
	m := e.change(t, func(m *quota.Meter) { m.Reset(e.Now()) })
	if m.Used != 0 || e.other.left(t, hold(0)) != 100 {
		t.Error("the reset by hand does not take place")
	}
	e.use(t, 2, time.Hour)
	e.awaitPublished(t)
	e.first.MarkFlushed([]quota.Delta{early}, e.store.add(early))
	e.awaitPublished(t)
	if left := e.other.left(t, hold(0)); left != 98 {
		t.Error("behind both are left", left)
	}
}

// TestResetToCome: what is used before a reset that is still to come, and was stored by a clock
// that is ahead, counts.
func TestResetToCome(t *testing.T) {
	t.Parallel()
	e := newEve(t)
	m, _, _ := e.store.meter(t.Context(), hold(0).Counter)
	m.Reset(e.Now().Add(24 * time.Hour))
	e.store.set(m)
	e.other.Replace("k", []quota.Meter{m})
	eventually(t, "the reset is said", e.other.IsPublished)
	for i, n := range []*node{e.first, e.other} { // the first has not heard of it
		taken, _, _ := n.take(t, e.Now(), hold(30))
		n.Settle(e.Now(), taken, []int64{30})
		eventually(t, "what was used is said", n.IsPublished)
		if left := e.other.left(t, hold(0)); left != 70-30*int64(i) {
			t.Error("left are", left)
		}
	}
}

// TestStoredInTurn: what a node stored of before a reset and of behind it waits for another node
// to tell what it stored before, and nothing counts twice meanwhile.
func TestStoredInTurn(t *testing.T) {
	t.Parallel()
	e := newEve(t)
	e.use(t, 40, 0)
	local := []quota.Delta{{SubjectID: "k", BudgetKey: "b", Units: 40, UsedAt: e.Now()}, {SubjectID: "k", BudgetKey: "b", Units: 20}}
	e.forward(time.Second)
	e.change(t, func(m *quota.Meter) { m.Reset(e.Now()) })
	e.use(t, 20, 0)
	local[1].UsedAt = e.Now()
	taken, _, _ := e.other.take(t, e.Now(), hold(30))
	e.other.Settle(e.Now(), taken, []int64{30})
	e.awaitPublished(t)
	yours := quota.Delta{SubjectID: "k", BudgetKey: "b", Units: 30, UsedAt: e.Now()}
	before, after := e.store.add(yours), e.store.add(local...)
	e.first.MarkFlushed(local, after[1:])
	for range 20 {
		if left := e.other.left(t, hold(0)); left != 50 {
			t.Fatal("one node told, and left are", left)
		}
	}
	e.other.MarkFlushed([]quota.Delta{yours}, before)
	e.awaitPublished(t)
	if left := e.other.left(t, hold(0)); left != 50 {
		t.Error("both told, and left are", left)
	}
}

// TestDueThatNeverWas: a reset that has come, and that the store never has because its schedule
// was changed before anybody stored it, holds no longer than until what was used behind it is
// stored.
func TestDueThatNeverWas(t *testing.T) {
	t.Parallel()
	e := newEve(t)
	e.change(t, func(m *quota.Meter) { m.Used = 60 })
	e.forward(time.Hour)
	if left := e.other.left(t, hold(0)); left != 100 {
		t.Error("behind the reset are left", left)
	}
	e.change(t, func(m *quota.Meter) { m.NextReset = e.Now().AddDate(0, 1, 0) })
	e.use(t, 10, time.Second)
	used := quota.Delta{SubjectID: "k", BudgetKey: "b", Units: 10, UsedAt: e.Now()}
	e.awaitPublished(t)
	e.first.MarkFlushed([]quota.Delta{used}, e.store.add(used))
	e.awaitPublished(t)
	if left := e.other.left(t, hold(0)); left != 30 {
		t.Error("without the reset are left", left)
	}
}

// TestDueOfTwoPeriods: what a node used on both sides of a reset, and says at once, is divided by
// it, in whichever order it comes.
func TestDueOfTwoPeriods(t *testing.T) {
	t.Parallel()
	for range 5 {
		e := newEve(t)
		before, _, _ := e.first.take(t, e.Now(), hold(40))
		afterReset, _, _ := e.first.take(t, e.Now(), hold(50))
		e.wire.Slow(50 * time.Millisecond) // both are in the queue before the next round trip
		wakes, _, _ := e.first.take(t, e.Now(), hold(1))
		e.first.Settle(e.Now(), wakes, nil)
		e.first.Settle(e.Now(), before, []int64{40})
		e.forward(time.Hour)
		e.first.Settle(e.Now(), afterReset, []int64{50})
		e.wire.Clear()
		e.awaitPublished(t)
		if left := e.other.left(t, hold(0)); left != 50 {
			t.Error("behind the reset are left", left)
		}
	}
}
