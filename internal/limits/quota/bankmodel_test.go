package quota_test

import (
	"testing"

	"sluice/internal/limits/quota"
	"sluice/internal/limits/quota/quotatest"
)

// TestLinearisable: what calls at once are answered is what some order of them one behind
// another would have been answered.
func TestLinearisable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		quotatest.Check(t, quotatest.History{Seed: seed, Limiters: []quotatest.Limiter{quota.NewLimiter()}, Callers: 4, MaxStepSeconds: 3})
	}
}
