package quota_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/limits/quota"
)

// What holds of the rest reserve is never more than is left, and comes back exactly.
func TestRestNeverPassesTheLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now, b := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC), quota.NewLimiter()
		limit := rapid.Int64Range(1, 1000).Draw(t, "limit")
		var under [][]quota.Hold
		held := int64(0)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if len(under) > 0 && rapid.Bool().Draw(t, "ends") {
				held -= under[0][0].Amount
				b.Settle(now, under[0], nil)
				under = under[1:]
			} else {
				h := []quota.Hold{{Counter: quota.CounterID{Subject: "k", Entry: "tokens/rpm"}, Measure: quota.TokenCount, Limit: limit, Unit: quota.PerMinute, Amount: rapid.Int64Range(1, 1500).Draw(t, "amount"), Rest: rapid.Bool().Draw(t, "rest")}}
				want := h[0].Amount <= limit-held || h[0].Rest && held < limit
				if refused, _, _ := b.Take(now, h); (refused < 0) != want {
					t.Fatalf("%+v beside %d: refused %d", h[0], held, refused)
				}
				if want {
					held += h[0].Amount
					under = append(under, h)
				}
			}
			s := b.State(now, &quota.Hold{Counter: quota.CounterID{Subject: "k", Entry: "tokens/rpm"}, Limit: limit, Unit: quota.PerMinute})
			if s.Held != held || held > limit || held < 0 {
				t.Fatalf("held %d of %d, want %d", s.Held, limit, held)
			}
		}
	})
}
