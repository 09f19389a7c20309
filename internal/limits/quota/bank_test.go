package quota_test

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/limits/quota"
)

// hold is one of a cost budget, rate one of a rate of tokens; both of the carrier "k".
func hold(amount, limit int64) quota.Hold {
	return quota.Hold{Counter: quota.CounterID{Subject: "k", Entry: "b"}, Measure: quota.Cost, Amount: amount, Limit: limit}
}

func rate(u quota.Unit, amount, limit int64) quota.Hold {
	return quota.Hold{Counter: quota.CounterID{Subject: "k", Entry: quota.RateEntry(quota.Tokens, u)}, Measure: quota.TokenCount, Amount: amount, Limit: limit, Unit: u}
}

func requests(u quota.Unit, limit int64) quota.Hold {
	return quota.Hold{Counter: quota.CounterID{Subject: "k", Entry: quota.RateEntry(quota.Requests, u)}, Measure: quota.Calls, Amount: 1, Limit: limit, Unit: u, Spent: true}
}

func (c *call) take(b *quota.Limiter, now time.Time, holds ...quota.Hold) (refused int, left int64, retry time.Time) {
	c.holds = holds
	return b.Take(now, c.holds)
}

// call keeps the holds between Take and Settle.
type call struct{ holds []quota.Hold }

func TestTake(t *testing.T) {
	t.Parallel()
	type takeResult struct {
		Refused int
		Left    int64
		Retry   time.Time
	}
	taken := takeResult{Refused: -1}
	minute := noon.Add(time.Minute)
	for _, c := range []struct {
		name  string
		held  []quota.Hold // of a call under way
		used  []int64      // by another call, which ended
		holds []quota.Hold
		want  takeResult
	}{
		{"as much as there is", nil, nil, []quota.Hold{hold(100, 100)}, taken},
		{"more than there is", nil, nil, []quota.Hold{hold(101, 100)}, takeResult{0, 100, time.Time{}}},
		{"what another call holds", []quota.Hold{hold(60, 100)}, nil, []quota.Hold{hold(41, 100)}, takeResult{0, 40, time.Time{}}},
		{"beside another call", []quota.Hold{hold(60, 100)}, nil, []quota.Hold{hold(40, 100)}, taken},
		{"used and held", []quota.Hold{hold(30, 100)}, []int64{30}, []quota.Hold{hold(41, 100)}, takeResult{0, 40, time.Time{}}},
		{"used beyond the limit", []quota.Hold{hold(1, 100)}, []int64{300}, []quota.Hold{hold(0, 100)}, takeResult{0, 0, time.Time{}}},
		{"nothing, of a budget that is used up", []quota.Hold{hold(0, 100)}, []int64{100}, []quota.Hold{hold(0, 100)}, takeResult{0, 0, time.Time{}}},
		{"nothing, of a budget that is all held", []quota.Hold{hold(100, 100)}, nil, []quota.Hold{hold(0, 100)}, taken},
		{"a negative amount is none", nil, nil, []quota.Hold{hold(-5, 100)}, taken},
		{"a limit of nothing", nil, nil, []quota.Hold{rate(quota.PerHour, 0, 0)}, takeResult{0, 0, noon.Add(time.Hour)}},
		{"more than there is, softly", nil, nil, []quota.Hold{soft(hold(500, 100))}, taken},
		{"used up, softly", []quota.Hold{hold(0, 100)}, []int64{100}, []quota.Hold{soft(hold(1, 100))}, takeResult{0, 0, time.Time{}}},
		{"a rate of tokens", []quota.Hold{rate(quota.PerMinute, 90, 100)}, nil, []quota.Hold{rate(quota.PerMinute, 11, 100)}, takeResult{0, 10, minute}},
		{"the second of two", nil, nil, []quota.Hold{hold(1, 100), rate(quota.PerMinute, 101, 100)}, takeResult{1, 100, minute}},
		{"the same counter twice", nil, nil, []quota.Hold{hold(60, 100), hold(60, 100)}, takeResult{1, 40, time.Time{}}},
		{"no holds", nil, nil, nil, taken},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := quota.NewLimiter()
			if c.used != nil {
				before := call{}
				before.take(b, noon, hold(0, 1000))
				b.Settle(noon, before.holds, c.used)
			}
			if refused, _, _ := b.Take(noon, c.held); refused >= 0 && c.used == nil {
				t.Fatal("the call under way was refused")
			}
			var got takeResult
			got.Refused, got.Left, got.Retry = b.Take(noon, c.holds)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func soft(h quota.Hold) quota.Hold {
	h.Soft = true
	return h
}

// TestTakeNone: a refusal leaves everything as it was, except requests that were counted
// before it.
func TestTakeNone(t *testing.T) {
	t.Parallel()
	b := quota.NewLimiter()
	var c call
	if refused, _, _ := c.take(b, noon, requests(quota.PerMinute, 10), hold(60, 100), rate(quota.PerHour, 101, 100), requests(quota.PerDay, 10)); refused != 2 {
		t.Fatal("refused is", refused)
	}
	b.Settle(noon, c.holds, []int64{9, 9, 9, 9}) // of a call that was refused: does nothing
	for i, want := range []quota.State{
		{Used: 1, Left: 9, ResetAt: noon.Add(time.Minute)},
		{Left: 100},
		{Left: 100, ResetAt: noon.Add(time.Hour)},
		{Left: 10, ResetAt: noon.Add(12 * time.Hour)},
	} {
		if diff := cmp.Diff(want, b.State(noon, &c.holds[i])); diff != "" {
			t.Error(i, diff)
		}
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	b := quota.NewLimiter()
	var c call
	c.take(b, noon, hold(60, 100), rate(quota.PerMinute, 50, 1000), requests(quota.PerMinute, 10))
	b.Settle(noon, c.holds, []int64{25, 70, 99})
	b.Settle(noon, c.holds, []int64{25, 70, 99}) // a second time does nothing
	for i, want := range []quota.State{{Used: 25, Left: 75}, {Used: 70, Left: 930, ResetAt: noon.Add(time.Minute)}, {Used: 1, Left: 9, ResetAt: noon.Add(time.Minute)}} {
		if diff := cmp.Diff(want, b.State(noon, &c.holds[i])); diff != "" {
			t.Error(i, diff)
		}
	}
	c.take(b, noon, hold(60, 100))
	b.Settle(noon, c.holds, nil)
	if s := b.State(noon, &c.holds[0]); s.Used != 25 || s.Held != 0 {
		t.Error("a call that was not sent left", s)
	}
}

// TestAbsurdCounts: what a provider counts beyond all measure does not turn a counter round.
func TestAbsurdCounts(t *testing.T) {
	t.Parallel()
	b := quota.NewLimiter()
	b.Load([]quota.Meter{{Subject: quota.Subject{ID: "k"}, BudgetKey: "b", Limit: 100}})
	calls := make([]call, 3)
	for i := range calls {
		calls[i].take(b, noon, hold(1, 100), rate(quota.PerDay, 1, 100))
	}
	for i := range calls {
		b.Settle(noon, calls[i].holds, []int64{math.MaxInt64, math.MaxInt64})
	}
	for range calls {
		b.MarkFlushed([]quota.Delta{{SubjectID: "k", BudgetKey: "b", Units: quota.MaxCallUnits}}, nil)
	}
	probe := hold(0, 100)
	if s := b.State(noon, &probe); s.Used != 0 {
		t.Errorf("%d used once all is stored, want what the store says", s.Used)
	}
	probe = rate(quota.PerDay, 0, 100)
	if s := b.State(noon, &probe); s.Used != 3*quota.MaxCallUnits {
		t.Errorf("%d used of a rate, want three times the most that a call counts", s.Used)
	}
}

// TestWindows: what is settled behind the end of a window counts in the next one, and
// what was held of the window is gone with it.
func TestWindows(t *testing.T) {
	t.Parallel()
	b := quota.NewLimiter()
	var first, second call
	first.take(b, noon, rate(quota.PerMinute, 100, 100))
	if refused, _, _ := second.take(b, noon.Add(59*time.Second), rate(quota.PerMinute, 1, 100)); refused != 0 {
		t.Fatal("the window is full")
	}
	next := noon.Add(time.Minute)
	if refused, _, _ := second.take(b, next, rate(quota.PerMinute, 70, 100)); refused != -1 {
		t.Fatal("a new window is empty")
	}
	b.Settle(next, first.holds, []int64{20})
	if s := b.State(next, &first.holds[0]); s.Used != 20 || s.Held != 70 {
		t.Errorf("settled in the next window: %+v", s)
	}
}

func TestWindowEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unit quota.Unit
		now  string
		end  string
	}{
		{quota.PerMinute, "2026-11-20T12:00:59Z", "2026-11-20T12:01:00Z"},
		{quota.PerHour, "2026-11-20T12:00:00Z", "2026-11-20T13:00:00Z"},
		{quota.PerDay, "2026-11-20T23:59:59+05:30", "2026-11-21T00:00:00Z"},
		{quota.PerWeek, "2026-11-20T12:00:00Z", "2026-11-23T00:00:00Z"}, // a Monday
		{quota.PerWeek, "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"},
		{quota.PerWeek, "2026-11-22T23:59:59Z", "2026-11-23T00:00:00Z"},
		{quota.PerDay, "2028-02-29T12:00:00Z", "2028-03-01T00:00:00Z"},
	} {
		now, _ := time.Parse(time.RFC3339, c.now)
		end, _ := time.Parse(time.RFC3339, c.end)
		h := requests(c.unit, 10)
		if s := quota.NewLimiter().State(now, &h); !s.ResetAt.Equal(end) {
			t.Errorf("%s at %s begins anew at %s, not %s", c.unit, c.now, s.ResetAt, c.end)
		}
	}
}

// TestClockBack: no limit is passed by turning a clock, and no call is refused for
// longer than its window because a clock was ahead for a while.
func TestClockBack(t *testing.T) {
	t.Parallel()
	b := quota.NewLimiter()
	h := requests(quota.PerHour, 1)
	if refused, _, _ := b.Take(noon.AddDate(1, 0, 0), []quota.Hold{h}); refused != -1 {
		t.Fatal("refused")
	}
	refused, _, retry := b.Take(noon, []quota.Hold{h})
	if refused != 0 || !retry.Equal(noon.Add(time.Hour)) {
		t.Error("a clock that went back by a year:", refused, retry)
	}
	if refused, _, _ = b.Take(noon.Add(-time.Second), []quota.Hold{h}); refused != 0 {
		t.Error("a second before the window is in the window")
	}
	if refused, _, _ = b.Take(noon.Add(time.Hour), []quota.Hold{h}); refused != -1 {
		t.Error("the next window is closed")
	}
}

// TestAtOnce: with $1.00 left the worst case of what a thousand callers are admitted
// with at once is $1.00, to the last nano-dollar.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	const dollar, callers, amount = int64(1_000_000_000), 1000, int64(7_000_003)
	b := quota.NewLimiter()
	b.Load([]quota.Meter{{Subject: quota.Subject{ID: "k"}, BudgetKey: "b", Used: 9 * dollar, Limit: 10 * dollar}})
	var admitted atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			var c call
			if refused, _, _ := c.take(b, noon, hold(amount, 10*dollar), requests(quota.PerMinute, callers)); refused < 0 {
				admitted.Add(amount)
			}
		})
	}
	all.Wait()
	if want := dollar / amount * amount; admitted.Load() != want {
		t.Errorf("%d nano-dollars were admitted, not %d", admitted.Load(), want)
	}
}

// TestOrder: calls whose holds come in other orders never wait for each other for ever.
func TestOrder(t *testing.T) {
	t.Parallel()
	b := quota.NewLimiter()
	list := []quota.Hold{hold(1, 1000), rate(quota.PerMinute, 1, 1000), rate(quota.PerHour, 1, 1000)}
	var all sync.WaitGroup
	for i := range len(list) {
		all.Go(func() {
			for range 1000 {
				c := call{}
				c.take(b, noon, list[i], list[(i+1)%3], list[(i+2)%3])
				b.Settle(noon, c.holds, nil)
			}
		})
	}
	all.Wait()
	for i := range list {
		if s := b.State(noon, &list[i]); s.Used != 0 || s.Held != 0 {
			t.Errorf("%d is left with %+v", i, s)
		}
	}
}

// TestManyNewCounters: a call may have more new counters of one carrier than the bank keeps
// of idle ones, and so may several at once.
func TestManyNewCounters(t *testing.T) {
	t.Parallel()
	const callers, limits = 4, 1000
	b := quota.NewLimiter()
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			holds := make([]quota.Hold, limits)
			for i := range holds {
				holds[i] = hold(1, 100)
				holds[i].Counter.Entry = fmt.Sprint(caller, "/", i)
			}
			if refused, _, _ := b.Take(noon, holds); refused >= 0 {
				t.Error("refused", refused)
			}
			for i := range holds {
				if s := b.State(noon, &holds[i]); s.Held != 1 {
					t.Errorf("of counter %d is held %d", i, s.Held)
				}
			}
			b.Settle(noon, holds, nil)
		})
	}
	all.Wait()
	var next call // a new counter has the idle ones forgotten
	for i := range 4 * callers * limits {
		h := hold(1, 100)
		h.Counter.Entry = fmt.Sprint("next/", i)
		next.take(b, noon, h)
		b.Settle(noon, next.holds, nil)
	}
	if n := b.Len(); n > 2*callers*limits {
		t.Errorf("%d counters are kept, and none is in use", n)
	}
}
