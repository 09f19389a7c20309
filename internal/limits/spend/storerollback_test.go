package spend_test

import (
	"context"
	"maps"
	"testing"

	"sluice/internal/kernel/fault"
)

// A store that comes back without its last transactions, as a replica that takes over does,
// gets what was in them once more, each line once; the bank, which had settled them, learns
// the meters.
func TestStoreThatForgot(t *testing.T) {
	t.Parallel()
	ctx, m := context.Background(), newMemory()
	w := newWorld(t, t.TempDir(), m, m.usedOf, "a", "b")
	some := func(name string, n int) int { return min(n-1, 1) }
	calls := func() {
		for range 5 {
			w.reserve(some)
			w.end(some)
		}
		w.correct(some)
		w.reserve(some) // stays open
	}
	flush := func() {
		t.Helper()
		if err := w.follower.CatchUp(ctx); err != nil {
			t.Fatal(err)
		}
		w.checkStored()
	}
	calls()
	flush()
	position, used := maps.Clone(m.position), maps.Clone(m.used)
	for range 2 {
		calls()
		flush()
	}
	m.position, m.used = position, used
	calls()
	flush()
	for _, c := range w.carriers {
		if m.used[c] != w.want[c] || w.limiter.meters[c] != w.want[c] {
			t.Errorf("of %s are %d stored and %d known, used were %d", c, m.used[c], w.limiter.meters[c], w.want[c])
		}
	}
	if st := w.follower.Stats(); st.Unreserved != 0 || st.Malformed != 0 {
		t.Errorf("figures %+v", st)
	}
	m.position[w.journal.ID()] += 1000
	calls()
	if err := w.follower.CatchUp(ctx); !fault.Has(err, fault.Conflict) {
		t.Errorf("beside another process that counts: %v", err)
	}
}
