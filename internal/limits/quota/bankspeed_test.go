package quota_test

import (
	"strconv"
	"testing"
	"time"

	"sluice/internal/limits/quota"
)

// plenty are the holds of a call whose key, workspace, provider and policies all have
// limits, which are far.
func plenty() []quota.Hold {
	var list []quota.Hold
	for i := range 6 {
		b := hold(1000, 1<<60)
		b.Counter.Entry = strconv.Itoa(i)
		r := requests(quota.PerMinute, 1<<60)
		r.Counter.Subject = strconv.Itoa(i)
		list = append(list, b, r)
	}
	return list
}

func TestTakeAllocatesNothing(t *testing.T) {
	b, used := quota.NewLimiter(), make([]int64, 12)
	holds := plenty()
	if n := testing.AllocsPerRun(100, func() {
		b.Take(noon, holds)
		b.Settle(noon, holds, used)
	}); n != 0 {
		t.Errorf("a call allocates %v times", n)
	}
}

// BenchmarkBank: twelve limits taken and settled.
func BenchmarkBank(b *testing.B) {
	limiter, used := quota.NewLimiter(), make([]int64, 12)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		now, holds := noon.Add(time.Second), plenty()
		for pb.Next() {
			limiter.Take(now, holds)
			limiter.Settle(now, holds, used)
		}
	})
}

// TestIdleWindows: callers who come and go leave nothing behind.
func TestIdleWindows(t *testing.T) {
	t.Parallel()
	b := quota.NewLimiter()
	now, peak := noon, 0
	for i := range 200_000 {
		h := requests(quota.PerMinute, 10)
		h.Counter.ValueKey = "metadata._user:" + strconv.Itoa(i)
		var c call
		c.take(b, now, h)
		b.Settle(now, c.holds, nil)
		now = now.Add(time.Second)
		peak = max(peak, b.Len())
	}
	if peak > 2000 {
		t.Error(peak, "counters are kept, of which 120 are in use")
	}
}
