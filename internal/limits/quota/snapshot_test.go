package quota_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/limits/quota"
)

// rates are holds of all units, on a few carriers and policies.
func rates() []quota.Hold {
	var out []quota.Hold
	for i, u := range []quota.Unit{quota.PerMinute, quota.PerHour, quota.PerDay, quota.PerWeek} {
		for _, spent := range []bool{true, false} {
			h := quota.Hold{Counter: quota.CounterID{Subject: fmt.Sprint("carrier", i), Entry: fmt.Sprint(u, spent)}, Org: "org", Unit: u, Amount: 1, Limit: 1 << 40, Spent: spent, Measure: quota.Calls}
			policy := h
			policy.Counter = quota.CounterID{Subject: fmt.Sprint("policy", i, spent), ValueKey: "metadata.team:\xff\x00"}
			out = append(out, h, policy)
		}
	}
	return out
}

// use takes and settles so many units of a hold.
func use(b *quota.Limiter, now time.Time, h quota.Hold, units int64) {
	h.Amount = units
	holds := []quota.Hold{h}
	b.Take(now, holds)
	b.Settle(now, holds, []int64{units})
}

// Whatever was used when, and however the clock was turned: a bank that is restored stands
// where the one before it stood, from then on.
func TestRatesAreRestored(t *testing.T) {
	t.Parallel()
	all := rates()
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		jump := func(name string) {
			now = now.Add(time.Duration(rapid.Int64Range(-int64(3*time.Hour), int64(3*time.Hour)).Draw(t, name)))
		}
		before, after := quota.NewLimiter(), quota.NewLimiter()
		budget := quota.Hold{Counter: quota.CounterID{Subject: "carrier0", Entry: "budget"}, Limit: 1 << 40, Measure: quota.Cost}
		use(before, now, budget, 7)
		for range rapid.IntRange(0, 30).Draw(t, "calls") {
			use(before, now, all[rapid.IntRange(0, len(all)-1).Draw(t, "rate")], rapid.Int64Range(0, 1000).Draw(t, "units"))
			if rapid.IntRange(0, 4).Draw(t, "later") == 0 {
				jump("clock")
			}
		}
		for i := range all { // what was used in windows that are over is nothing from here on
			before.State(now, &all[i])
		}
		saved := before.Snapshot(now, nil)
		if again := before.Snapshot(now, nil); !bytes.Equal(saved[len(saved)-8:], again[len(again)-8:]) {
			t.Fatalf("two snapshots of the same differ")
		}
		jump("restart")
		if _, err := after.Restore(now, saved); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			for i := range all {
				h := all[i]
				want, got := before.State(now, &h), after.State(now, &h)
				if want != got {
					t.Fatalf("%+v at %s: restored %+v, want %+v", h.Counter, now, got, want)
				}
			}
			jump("then")
			i := rapid.IntRange(0, len(all)-1).Draw(t, "next")
			use(before, now, all[i], 3)
			use(after, now, all[i], 3)
		}
		if s := after.State(now, &budget); s.Used != 0 {
			t.Fatalf("the budget was restored: %+v", s)
		}
	})
}

// What was changed or cut is refused, and nothing of it is restored.
func TestSpoiledSnapshots(t *testing.T) {
	t.Parallel()
	b := quota.NewLimiter()
	for i, h := range rates() {
		use(b, noon, h, int64(i+1))
	}
	full := b.Snapshot(noon, nil)
	if n, err := quota.NewLimiter().Restore(noon, full); n != len(rates()) || err != nil {
		t.Fatalf("%d counters, %v", n, err)
	}
	for i := range full {
		cut, changed := full[:i], bytes.Clone(full)
		changed[i] ^= 0x10
		for what, spoiled := range map[string][]byte{"cut": cut, "changed": changed} {
			fresh := quota.NewLimiter()
			if n, err := fresh.Restore(noon, spoiled); err == nil || n != 0 || fresh.Len() != 0 {
				t.Errorf("%s at byte %d: %d counters, %v", what, i, n, err)
			}
		}
	}
	if n, err := quota.NewLimiter().Restore(noon, quota.NewLimiter().Snapshot(noon, nil)); n != 0 || err != nil {
		t.Errorf("of an empty bank: %d counters, %v", n, err)
	}
}

func FuzzRestore(f *testing.F) {
	b := quota.NewLimiter()
	for _, h := range rates() {
		use(b, noon, h, 5)
	}
	f.Add(b.Snapshot(noon, nil))
	f.Fuzz(func(t *testing.T, snapshot []byte) {
		fresh := quota.NewLimiter()
		if n, err := fresh.Restore(noon, snapshot); err != nil && n != 0 {
			t.Errorf("%d counters of a snapshot that is none: %v", n, err)
		}
	})
}

func BenchmarkSnapshot(b *testing.B) {
	limiter := quota.NewLimiter()
	h := rates()[0]
	for i := range 10_000 {
		h.Counter.Subject = fmt.Sprintf("0191f3a0-0000-7000-8000-%012d", i)
		use(limiter, noon, h, 5)
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = limiter.Snapshot(noon, buf[:0])
	}
	b.SetBytes(int64(len(buf)))
}
