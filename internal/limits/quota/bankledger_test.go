package quota_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/limits/quota"
)

// books are a bank with one budget, the store behind it as it is specified, and a ledger
// of all that was ever used. The bank must be what the ledger says.
type books struct {
	t       *rapid.T
	limiter *quota.Limiter
	now     time.Time
	limit   int64
	stored  quota.Meter
	ledger  []entry
	open    [][]quota.Hold // calls under way
	late    bool           // the bank does not know which of what is pending was before a reset
}

type entry struct {
	usedAt time.Time
	units  int64
	stored bool // was flushed
}

func newBooks(t *rapid.T) *books {
	b := &books{t: t, limiter: quota.NewLimiter(), now: noon, limit: 100}
	b.stored = quota.Meter{Subject: quota.Subject{ID: "k"}, BudgetKey: "b", Limit: 100, NextReset: noon.Add(36 * time.Hour)}
	b.limiter.Load([]quota.Meter{b.stored})
	return b
}

// since is the last reset that there was or should have been by now.
func (b *books) since() time.Time {
	last := b.stored.LastReset
	if b.stored.Due(b.now) && b.stored.NextReset.After(last) {
		last = b.stored.NextReset
	}
	return last
}

// used is what the ledger says, and pending what of all entries the store was not told.
func (b *books) used() (used, pending int64) {
	for _, e := range b.ledger {
		if !e.usedAt.Before(b.since()) {
			used += e.units
		}
		if !e.stored {
			pending += e.units
		}
	}
	return used, pending
}

func (b *books) held() (held int64) {
	for _, holds := range b.open {
		held += holds[0].Amount
	}
	return held
}

func (b *books) admit(amount int64) {
	holds := []quota.Hold{hold(amount, b.limit)}
	used, _ := b.used()
	held := b.held()
	refused, _, _ := b.limiter.Take(b.now, holds)
	if refused < 0 {
		if used+held+amount > b.limit {
			b.t.Fatalf("admitted %d beside %d used and %d held of %d", amount, used, held, b.limit)
		}
		b.open = append(b.open, holds)
	}
}

// end settles the first of the calls under way with a share of what it held.
func (b *books) end(percent int64) {
	if len(b.open) == 0 {
		return
	}
	holds := b.open[0]
	b.open = b.open[1:]
	units := holds[0].Amount * percent / 100
	b.ledger = append(b.ledger, entry{usedAt: b.now, units: units})
	b.limiter.Settle(b.now, holds, []int64{units})
}

// flush stores the first of what is pending, as the store does: what was used before the
// last reset does not count, and what was used behind a reset that is due brings it about.
func (b *books) flush(limit int) {
	var d quota.Delta
	for i := range b.ledger {
		e := &b.ledger[i]
		if e.stored {
			continue
		}
		if limit--; limit < 0 {
			break
		}
		e.stored = true
		d.Units += e.units
		if m := &b.stored; m.Due(e.usedAt) && m.LastReset.Before(m.NextReset) {
			m.Used, m.LastReset = 0, m.NextReset
		}
		if !e.usedAt.Before(b.stored.LastReset) {
			b.stored.Used += e.units
		}
	}
	d.SubjectID, d.BudgetKey = "k", "b"
	b.limiter.MarkFlushed([]quota.Delta{d}, []quota.Meter{b.stored})
}

// work is what the worker does about a reset that is due.
func (b *books) work() {
	if m := &b.stored; m.Due(b.now) {
		if m.LastReset.Before(m.NextReset) {
			m.Used, m.LastReset = 0, m.NextReset
		}
		m.NextReset = m.NextReset.Add(36 * time.Hour)
		b.limiter.Replace("k", []quota.Meter{*m})
	}
}

// crash loses the bank; what was under way counts with all that it held.
func (b *books) crash() {
	for len(b.open) > 0 {
		b.end(100)
	}
	b.flush(len(b.ledger))
	b.limiter = quota.NewLimiter()
	b.limiter.Load([]quota.Meter{b.stored})
}

// reset is what somebody asked for; calls may end before the bank hears of it.
func (b *books) reset(count int) {
	b.now = b.now.Add(time.Millisecond) // the instants of resets and calls differ
	b.stored.Reset(b.now)
	b.now = b.now.Add(time.Millisecond)
	for range count {
		b.late = b.late || len(b.open) > 0
		b.end(100)
	}
	b.limiter.Replace("k", []quota.Meter{b.stored})
}

// check: the bank is never below the ledger, and it is the ledger unless calls ended
// between a reset and the moment at which the bank heard of it; then it is once everything
// is stored.
func (b *books) check() {
	used, pending := b.used()
	b.late = b.late && pending > 0
	s := b.limiter.State(b.now, &quota.Hold{Counter: quota.CounterID{Subject: "k", Entry: "b"}, Limit: b.limit})
	if s.Used < used || !b.late && s.Used != used {
		b.t.Fatalf("the bank says %d used, the ledger %d, %d of it pending", s.Used, used, pending)
	}
	if held := b.held(); s.Held != held {
		b.t.Fatalf("the bank holds %d, calls under way %d", s.Held, held)
	}
}

// TestBankIsTheLedger: any sequence of calls, flushes, resets, new limits and crashes
// keeps what the bank counts equal to the sum of the ledger since the last reset, and
// what is admitted within the limit.
func TestBankIsTheLedger(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := newBooks(t)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"admit", "admit", "admit", "end", "end", "release", "flush", "flush some", "work", "reset", "limit", "crash", "wait"}).Draw(t, "step") {
			case "admit":
				b.admit(rapid.Int64Range(0, 60).Draw(t, "amount"))
			case "end":
				b.end(rapid.Int64Range(0, 100).Draw(t, "percent"))
			case "release":
				b.end(0)
			case "flush":
				b.flush(len(b.ledger))
			case "flush some":
				b.flush(rapid.IntRange(0, 3).Draw(t, "lines"))
			case "work":
				b.work()
			case "reset":
				b.reset(rapid.IntRange(0, 2).Draw(t, "ending"))
			case "limit":
				b.limit = rapid.Int64Range(1, 200).Draw(t, "limit")
			case "crash":
				b.crash()
			case "wait": // the worker never sleeps through a whole period
				b.work()
				b.now = b.now.Add(time.Duration(rapid.IntRange(1, 30).Draw(t, "hours")) * time.Hour)
			}
			b.check()
		}
	})
}

// TestUsageBeforeAReset that the store has and was not told of yet counts no more behind it,
// whoever came to the reset first; nor does it make room for more once the store is told.
func TestUsageBeforeAReset(t *testing.T) {
	t.Parallel()
	midnight := noon.Add(12 * time.Hour)
	for name, resetDelay := range map[string]time.Duration{"on schedule": 12 * time.Hour, "because somebody asked": time.Hour} {
		b := quota.NewLimiter()
		m := quota.Meter{Subject: quota.Subject{ID: "k"}, BudgetKey: "b", Limit: 100, NextReset: midnight}
		b.Load([]quota.Meter{m})
		used := func(when time.Time, want int64) {
			t.Helper()
			if s := b.State(when, &quota.Hold{Counter: m.CounterID(), Limit: 100}); s.Used != want {
				t.Errorf("%s: %d used, want %d", name, s.Used, want)
			}
		}
		var c call
		c.take(b, noon, hold(60, 100))
		b.Settle(noon, c.holds, []int64{60})

		reset := noon.Add(resetDelay)
		m.Reset(reset)
		m.NextReset = midnight.AddDate(0, 0, 1)
		b.Replace("k", []quota.Meter{m})
		used(reset, 0)
		c.take(b, reset, hold(50, 100))
		b.Settle(reset, c.holds, []int64{50})
		used(reset, 50)
		b.MarkFlushed([]quota.Delta{{SubjectID: "k", BudgetKey: "b", Units: 60}}, []quota.Meter{m})
		used(reset, 50)
		m.Used = 50
		b.MarkFlushed([]quota.Delta{{SubjectID: "k", BudgetKey: "b", Units: 50}}, []quota.Meter{m})
		used(reset, 50)
	}
}

// TestResetOfPolicy: a reset of a policy that is due empties all its counters at once,
// also those that the store does not know yet, and the store's own reset changes nothing.
func TestResetOfPolicy(t *testing.T) {
	t.Parallel()
	b := quota.NewLimiter()
	subject := quota.Subject{Kind: quota.UsageLimitKind, ID: "p"}
	midnight := noon.Add(12 * time.Hour)
	head := quota.Meter{Subject: subject, Limit: 100, NextReset: midnight}
	search := quota.Meter{Subject: subject, BudgetKey: quota.EntryOf("team:search"), ValueKey: "team:search", Used: 90, Limit: 100}
	b.Load([]quota.Meter{head, search})
	h := quota.Hold{Counter: quota.CounterID{Subject: "p", ValueKey: "team:search"}, Limit: 100, Amount: 50}
	other := quota.Hold{Counter: quota.CounterID{Subject: "p", ValueKey: "team:new"}, Limit: 100, Amount: 80}
	var c call
	if refused, left, retry := c.take(b, noon, h); refused != 0 || left != 10 || !retry.Equal(midnight) {
		t.Fatal("before the reset:", refused, left, retry)
	}
	c.take(b, noon, other)
	b.Settle(noon, c.holds, []int64{80})
	for _, hold := range []quota.Hold{h, other} {
		if refused, _, _ := c.take(b, midnight, hold); refused != -1 {
			t.Error("refused behind the reset:", hold.Counter)
		}
		b.Settle(midnight, c.holds, []int64{7})
	}
	if s := b.State(midnight.Add(-time.Hour), &h); s.Used != 97 {
		t.Error("a clock that went back behind the reset shows", s.Used)
	}
	head.LastReset, head.NextReset = midnight, midnight.AddDate(0, 0, 7)
	search.Used, search.LastReset = 0, midnight
	b.Replace("p", []quota.Meter{head, search})
	for _, hold := range []quota.Hold{h, other} {
		if s := b.State(midnight, &hold); s.Used != 7 || !s.ResetAt.Equal(head.NextReset) {
			t.Errorf("%v: %+v", hold.Counter, s)
		}
	}
	b.Replace("p", nil)
	if s := b.State(midnight, &h); s.Used != 0 {
		t.Error("a policy that is gone has", s.Used)
	}
}
