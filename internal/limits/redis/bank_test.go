package redis_test

import (
	"context"
	"testing"
	"time"

	"sluice/internal/limits/quota"
	"sluice/internal/limits/redistest"
)

// TestTwoNodes: what one node takes and uses the other has not.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	s, b := redistest.Start(t), new(books)
	b.set(quota.Meter{Subject: quota.Subject{ID: "k", OrgID: "o"}, BudgetKey: "b", Used: 10})
	first, second := start(t, options("a", redisServer(s.Address), b)), start(t, options("b", redisServer(s.Address), b))
	now := time.Now()
	taken, refused, _ := first.take(t, now, hold(60))
	if refused != -1 {
		t.Fatal("refused:", refused)
	}
	if _, refused, left := second.take(t, now, hold(31)); refused != 0 || left != 30 {
		t.Error("beside what the first holds:", refused, left)
	}
	if s := second.State(now, &taken[0]); s.Held != 0 {
		t.Logf("the second knows of the first: %+v", s)
	}
	first.Settle(now, taken, []int64{25})
	eventually(t, "the second has what the first gave back", func() bool { return second.left(t, hold(0)) == 65 })
	if _, refused, _ := second.take(t, now, hold(65)); refused != -1 {
		t.Error("all that is left is refused")
	}
	if _, refused, left := first.take(t, now, hold(1)); refused != 0 || left != 0 {
		t.Error("beyond the limit:", refused, left)
	}
}

// TestFlushChangesNothing: what is stored counts once, whoever stores and tells first.
func TestFlushChangesNothing(t *testing.T) {
	t.Parallel()
	s, b := redistest.Start(t), new(books)
	b.set(quota.Meter{Subject: quota.Subject{ID: "k", OrgID: "o"}, BudgetKey: "b"})
	first, second := start(t, options("a", redisServer(s.Address), b)), start(t, options("b", redisServer(s.Address), b))
	now := time.Now()
	for _, n := range []*node{first, second} {
		taken, _, _ := n.take(t, now, hold(30))
		n.Settle(now, taken, []int64{20})
	}
	eventually(t, "both are settled", func() bool { return first.left(t, hold(0)) == 60 })
	local, yours := quota.Delta{SubjectID: "k", BudgetKey: "b", Units: 20, UsedAt: now}, quota.Delta{SubjectID: "k", BudgetKey: "b", Units: 20, UsedAt: now}
	before, after := b.add(local), b.add(yours)
	second.MarkFlushed([]quota.Delta{yours}, after) // the store took it second
	for range 20 {
		if left := first.left(t, hold(0)); left != 60 {
			t.Fatal("one node told of what the store has, and left is", left)
		}
	}
	first.MarkFlushed([]quota.Delta{local}, before)
	client := s.Client(t)
	eventually(t, "Redis has what the store has", func() bool {
		base, _ := client.Do(t.Context(), client.B().Hget().Key(key(t, s)).Field("b").Build()).ToString()
		pending, _ := client.Do(t.Context(), client.B().Hget().Key(key(t, s)).Field("u").Build()).ToString()
		return base == "40" && pending == "0"
	})
	if left := first.left(t, hold(0)); left != 60 {
		t.Error("left is", left)
	}
}

// TestHeldElsewhereOnce: what another node held when this one last heard of it makes nobody
// believe that a budget is used up.
func TestHeldElsewhereOnce(t *testing.T) {
	t.Parallel()
	s, b := redistest.Start(t), new(books)
	b.set(quota.Meter{Subject: quota.Subject{ID: "k", OrgID: "o"}, BudgetKey: "b"})
	first, second := start(t, options("a", redisServer(s.Address), b)), start(t, options("b", redisServer(s.Address), b))
	now := time.Now()
	yours, _, _ := second.take(t, now, hold(60))
	local, _, _ := first.take(t, now, hold(30))
	if s := first.State(now, &local[0]); s.Held != 90 {
		t.Fatalf("the first knows of %d that are held", s.Held)
	}
	second.Settle(now, yours, []int64{40})
	first.Settle(now, local, []int64{20})
	deltas := []quota.Delta{{SubjectID: "k", BudgetKey: "b", Units: 40}, {SubjectID: "k", BudgetKey: "b", Units: 20}}
	first.MarkFlushed(deltas[1:], b.add(deltas...))
	second.MarkFlushed(deltas[:1], nil)
	eventually(t, "the first lets through what only asks whether there is anything left", func() bool {
		_, refused, _ := first.take(t, now, hold(0))
		return refused == -1
	})
}

// TestCorrection: what was used and is corrected in the store is corrected for all nodes,
// also when another one tells behind it what the store said before.
func TestCorrection(t *testing.T) {
	t.Parallel()
	s, b := redistest.Start(t), new(books)
	b.set(quota.Meter{Subject: quota.Subject{ID: "k", OrgID: "o"}, BudgetKey: "b", Used: 90})
	first, second := start(t, options("a", redisServer(s.Address), b)), start(t, options("b", redisServer(s.Address), b))
	now := time.Now()
	taken, _, _ := second.take(t, now, hold(5))
	second.Settle(now, taken, []int64{5})
	eventually(t, "the price is too high", func() bool { return first.left(t, hold(0)) == 5 })
	used := quota.Delta{SubjectID: "k", BudgetKey: "b", Units: 5, UsedAt: now}
	before := b.add(used)
	down := quota.Delta{SubjectID: "k", BudgetKey: "b", Units: -80, UsedAt: now}
	after := b.add(down)
	first.MarkFlushed(nil, after)
	first.Corrected([]quota.Delta{down}, after)
	second.MarkFlushed([]quota.Delta{used}, before)
	for _, n := range []*node{first, second} {
		eventually(t, "the price is corrected", func() bool { return n.left(t, hold(0)) == 85 })
	}
}

// TestCorrectionAmidCalls: a budget that was corrected is read from the store once while calls
// go on, however long others may still tell what was before.
func TestCorrectionAmidCalls(t *testing.T) {
	t.Parallel()
	s, b := redistest.Start(t), new(books)
	b.set(quota.Meter{Subject: quota.Subject{ID: "k", OrgID: "o"}, BudgetKey: "b", Used: 90})
	reads := 0
	o := options("a", redisServer(s.Address), b)
	o.Meters = func(ctx context.Context, id quota.CounterID) (quota.Meter, bool, error) {
		reads++
		return b.meter(ctx, id)
	}
	n := start(t, o)
	n.left(t, hold(0))
	down := quota.Delta{SubjectID: "k", BudgetKey: "b", Units: -80, UsedAt: time.Now()}
	n.Corrected([]quota.Delta{down}, b.add(down))
	eventually(t, "the price is corrected", func() bool { return n.left(t, hold(0)) == 90 })
	for range 50 { // each end of a call has the node say what it still has to
		taken, _, _ := n.take(t, time.Now(), hold(1))
		n.Settle(time.Now(), taken, nil)
	}
	if reads != 2 {
		t.Error("the store was asked", reads, "times")
	}
}

// key is the key of the budget in Redis.
func key(t testing.TB, s *redistest.Server) string {
	t.Helper()
	c := s.Client(t)
	list, err := c.Do(t.Context(), c.B().Keys().Pattern("sluice:*:c:k|b|").Build()).AsStrSlice()
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return list[0]
}
