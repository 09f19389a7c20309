package redis_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"sluice/internal/limits/quota"
	"sluice/internal/limits/redistest"
)

// TestManyParts: a node that has more than fits into one script states all of it, to a
// Redis that lost everything and to one that knows what an earlier life of the node had.
func TestManyParts(t *testing.T) {
	t.Parallel()
	const budgets = 1201
	s, b := redistest.Start(t), new(books)
	wire := redistest.NewWire(t, s)
	first, other := start(t, options("a", redisServer(wire.Address), b)), start(t, options("b", redisServer(s.Address), b))
	budget := func(i int) quota.Hold {
		h := hold(int64(i%90 + 1))
		h.Counter.Subject = strconv.Itoa(i)
		return h
	}
	for i := range budgets {
		if _, refused, _ := first.take(t, time.Now(), budget(i)); refused >= 0 {
			t.Fatal("budget", i, "is refused")
		}
	}
	at := time.Now() // of both takes, so that they are in one window
	rate, refused, _ := first.take(t, at, tokens(30, 100))
	if refused >= 0 {
		t.Fatal("the rate is refused")
	}
	agree := func(when string, held func(i int) int64) {
		t.Helper()
		for i := range budgets {
			if left := other.left(t, budget(i)); left != 100-held(i) {
				t.Fatalf("%s: of budget %d are left %d, not %d", when, i, left, 100-held(i))
			}
		}
	}
	all := func(i int) int64 { return int64(i%90 + 1) }
	agree("at first", all)

	s.Wipe(t)
	eventually(t, "both know", func() bool {
		return first.Err() == nil && first.IsPublished() && other.Err() == nil && other.IsPublished()
	})
	// Whoever asks before the node has stated its part makes the budget without it, and
	// the part is added when it comes.
	eventually(t, "the last part is stated", func() bool {
		return other.left(t, budget(budgets-1)) == 100-all(budgets-1) && other.left(t, budget(0)) == 100-all(0)
	})
	agree("behind the loss", all)
	if _, refused, left := other.take(t, at, tokens(1<<50, 100)); refused != 0 || left != 70 {
		t.Error("of the rate are left", left)
	}
	first.Settle(time.Now(), rate, []int64{30})

	// The node dies. Its next life has closed all but the first budget.
	wire.Cut()
	next := options("a", redisServer(s.Address), b)
	for i := range budgets {
		b.set(quota.Meter{Subject: quota.Subject{ID: strconv.Itoa(i), OrgID: "o"}, BudgetKey: "b", Used: 3})
	}
	next.Local.TakeUnchecked(time.Now(), []quota.Hold{budget(0)}, nil)
	second := start(t, next)
	eventually(t, "the next life is known", func() bool { return second.Err() == nil && second.IsPublished() })
	eventually(t, "what the first had is void", func() bool { return other.left(t, budget(budgets-1)) == 97 })
	agree("behind the restart", func(i int) int64 {
		if i == 0 {
			return 3 + all(0)
		}
		return 3
	})
}

// TestReadBeforeStored: what was read of a budget before another node stored something, and
// told that, makes no budget.
func TestReadBeforeStored(t *testing.T) {
	t.Parallel()
	s, b := redistest.Start(t), new(books)
	b.set(quota.Meter{Subject: quota.Subject{ID: "k", OrgID: "o"}, BudgetKey: "b"})
	other := start(t, options("b", redisServer(s.Address), b))
	used := quota.Delta{SubjectID: "k", BudgetKey: "b", Units: 40, UsedAt: time.Now()}
	taken := []quota.Hold{hold(40)}
	other.local.TakeUnchecked(used.UsedAt, taken, nil)
	other.Settle(used.UsedAt, taken, []int64{40})
	reads := 0
	o := options("a", redisServer(s.Address), b)
	o.Meters = func(ctx context.Context, id quota.CounterID) (quota.Meter, bool, error) {
		m, there, err := b.meter(ctx, id)
		if reads++; reads == 1 {
			other.MarkFlushed([]quota.Delta{used}, b.add(used))
			eventually(t, "the other node told", other.IsPublished)
		}
		return m, there, err
	}
	if left := start(t, o).left(t, hold(0)); left != 60 {
		t.Error("left are", left)
	}
}

// TestToldBehindLoss: what a node stored first and tells last, behind a loss, takes nothing back
// of what another one stored and told in between.
func TestToldBehindLoss(t *testing.T) {
	t.Parallel()
	s, b := redistest.Start(t), new(books)
	b.set(quota.Meter{Subject: quota.Subject{ID: "k", OrgID: "o"}, BudgetKey: "b"})
	first, second := start(t, options("a", redisServer(s.Address), b)), start(t, options("b", redisServer(s.Address), b))
	used := quota.Delta{SubjectID: "k", BudgetKey: "b", Units: 20, UsedAt: time.Now()}
	for _, n := range []*node{first, second} {
		taken, _, _ := n.take(t, used.UsedAt, hold(20))
		n.Settle(used.UsedAt, taken, []int64{20})
	}
	before, after := b.add(used), b.add(used)
	second.MarkFlushed([]quota.Delta{used}, after)
	s.Wipe(t)
	eventually(t, "the second told", second.IsPublished)
	s.Wipe(t)
	for _, n := range []*node{first, second} { // each finds out, and does not ask for the budget
		other := hold(1)
		other.Counter.Subject = "other"
		n.take(t, time.Now(), other)
	}
	first.MarkFlushed([]quota.Delta{used}, before)
	eventually(t, "the first told", first.IsPublished)
	if left := second.left(t, hold(0)); left != 60 {
		t.Error("left are", left)
	}
}
