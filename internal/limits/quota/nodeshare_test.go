package quota_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/limits/quota"
)

// parts are what a bank has, by the entry of the counter.
func parts(b *quota.Limiter, now time.Time) map[string]quota.NodeShare {
	out := map[string]quota.NodeShare{}
	b.Parts(now, func(p quota.NodeShare) { out[p.Counter.Entry] = p })
	return out
}

// TestParts: what is admitted, settled and flushed is what the bank says it has, and the
// moves of each settlement lead there.
func TestParts(t *testing.T) {
	t.Parallel()
	b := quota.NewLimiter()
	budget, tokens, calls := hold(60, 10), rate(quota.PerMinute, 50, 10), requests(quota.PerMinute, 10)
	budget.Org, tokens.Org, calls.Org = "o", "o", "o"
	holds := []quota.Hold{budget, tokens, calls}
	b.TakeUnchecked(noon, holds, nil) // more than the limits have: nobody asks here
	budgetPart := quota.NodeShare{Counter: budget.Counter, Org: "o", Held: 60}
	tokensPart := quota.NodeShare{Counter: tokens.Counter, Org: "o", Unit: quota.PerMinute, Window: noon, Held: 50}
	callsPart := quota.NodeShare{Counter: calls.Counter, Org: "o", Unit: quota.PerMinute, Window: noon, Used: 1}
	want := map[string]quota.NodeShare{"b": budgetPart, tokens.Counter.Entry: tokensPart, calls.Counter.Entry: callsPart}
	if diff := cmp.Diff(want, parts(b, noon)); diff != "" {
		t.Error(diff)
	}
	budgetPart.Held, budgetPart.Used, budgetPart.Latest, tokensPart.Held, tokensPart.Used = -60, 25, noon, -50, 70
	if diff := cmp.Diff([]quota.NodeShare{budgetPart, tokensPart}, b.SettleShares(noon, holds, []int64{25, 70, 9}, nil)); diff != "" {
		t.Error(diff)
	}
	if moves := b.SettleShares(noon, holds, []int64{25, 70, 9}, nil); len(moves) != 0 {
		t.Error("settled twice:", moves)
	}
	budgetPart.Held, tokensPart.Held = 0, 0
	want["b"], want[tokens.Counter.Entry] = budgetPart, tokensPart
	if diff := cmp.Diff(want, parts(b, noon)); diff != "" {
		t.Error(diff)
	}
	b.MarkFlushed([]quota.Delta{{SubjectID: "k", BudgetKey: "b", Units: 25}}, []quota.Meter{{Subject: quota.Subject{ID: "k"}, BudgetKey: "b", Used: 25}})
	if left := parts(b, noon.Add(time.Minute)); len(left) != 0 {
		t.Error("left when all is stored and the windows are over:", left)
	}
}

// TestDatedParts: what is not stored is dated and divided by the last reset, one by schedule
// that has come or one that the store has.
func TestDatedParts(t *testing.T) {
	t.Parallel()
	b := quota.NewLimiter()
	day := noon.Add(12 * time.Hour)
	m := quota.Meter{Subject: quota.Subject{ID: "k", OrgID: "o"}, BudgetKey: "b", NextReset: day}
	b.Load([]quota.Meter{m})
	use := func(when time.Time, units int64) quota.NodeShare {
		holds := []quota.Hold{hold(units, 100)}
		b.Take(when, holds)
		return b.SettleShares(when, holds, []int64{units}, nil)[0]
	}
	want := quota.NodeShare{Counter: m.CounterID(), Org: "o", Held: -30, Used: 30, Latest: noon}
	if diff := cmp.Diff(want, use(noon, 30)); diff != "" {
		t.Error("before the reset:", diff)
	}
	want = quota.NodeShare{Counter: m.CounterID(), Org: "o", Used: 30, Latest: noon, Since: day, Early: 30}
	if diff := cmp.Diff(want, parts(b, day)["b"]); diff != "" {
		t.Error("when the reset has come:", diff)
	}
	later := day.Add(time.Hour)
	want = quota.NodeShare{Counter: m.CounterID(), Org: "o", Held: -7, Used: 7, Latest: later, Since: day}
	if diff := cmp.Diff(want, use(later, 7)); diff != "" {
		t.Error("behind the reset:", diff)
	}
	m.Reset(later.Add(time.Hour))
	b.Load([]quota.Meter{m})
	want = quota.NodeShare{Counter: m.CounterID(), Org: "o", Used: 37, Latest: later, Since: m.LastReset, Early: 37}
	if diff := cmp.Diff(want, parts(b, m.LastReset)["b"]); diff != "" {
		t.Error("behind a reset by hand:", diff)
	}
}

// TestAdmitLate: what was taken in a window that is over here is held nowhere, and what
// it used counts when it ends.
func TestAdmitLate(t *testing.T) {
	t.Parallel()
	b := quota.NewLimiter()
	h := rate(quota.PerMinute, 50, 100)
	b.State(noon.Add(time.Minute), &h)
	b.Take(noon.Add(time.Minute), []quota.Hold{rate(quota.PerMinute, 1, 100)})
	late := []quota.Hold{h, requests(quota.PerMinute, 10)}
	b.Take(noon.Add(time.Minute), []quota.Hold{requests(quota.PerMinute, 10)})
	b.TakeUnchecked(noon.Add(59*time.Second), late, nil)
	if s := b.State(noon.Add(time.Minute), &h); s.Held != 1 {
		t.Errorf("held %d", s.Held)
	}
	if s := b.State(noon.Add(time.Minute), &late[1]); s.Used != 1 {
		t.Errorf("%d requests", s.Used)
	}
	b.Settle(noon.Add(time.Minute), late, []int64{7, 0})
	if s := b.State(noon.Add(time.Minute), &h); s.Held != 1 || s.Used != 7 {
		t.Errorf("settled: %+v", s)
	}
}

// TestOthers: what other nodes have counts in what a node finds by itself, until the store
// or a new period says otherwise.
func TestOthers(t *testing.T) {
	t.Parallel()
	b := quota.NewLimiter()
	day := noon.Add(12 * time.Hour)
	m := quota.Meter{Subject: quota.Subject{ID: "k", OrgID: "o"}, BudgetKey: "b", NextReset: day}
	b.Load([]quota.Meter{m})
	taken := []quota.Hold{hold(10, 100)}
	b.TakeUnchecked(noon, taken, []quota.ClusterTotal{{Used: 50, Held: 30}}) // 10 of what is held is its own
	if diff := cmp.Diff(quota.State{Used: 50, Held: 30, Left: 20, ResetAt: day}, b.State(noon, &taken[0])); diff != "" {
		t.Error(diff)
	}
	if refused, left, _ := b.Take(noon, []quota.Hold{hold(21, 100)}); refused != 0 || left != 20 {
		t.Error("taken beside others:", refused, left)
	}
	if s := b.State(day, &taken[0]); s.Used != 0 || s.Held != 30 {
		t.Errorf("in the next period: %+v", s)
	}
	b.TakeUnchecked(noon, taken, []quota.ClusterTotal{{Used: 50, Held: 30}})
	m.Used = 40
	b.Load([]quota.Meter{m})
	if s := b.State(noon, &taken[0]); s.Used != 40 {
		t.Errorf("the store says 40: %+v", s)
	}
	if due := b.Due(&taken[0]); !due.Equal(day) || b.OrgOf(taken[0].Counter) != "o" {
		t.Error(due, b.OrgOf(taken[0].Counter))
	}
}

// TestSpend: a call that is refused counts against the requests before the refusal.
func TestSpend(t *testing.T) {
	t.Parallel()
	b := quota.NewLimiter()
	holds := []quota.Hold{requests(quota.PerMinute, 10), hold(5, 10)}
	b.CountRejected(noon, holds)
	if got := parts(b, noon); len(got) != 1 || got[holds[0].Counter.Entry].Used != 1 {
		t.Error(got)
	}
}
