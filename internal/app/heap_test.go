package app

import "testing"

func TestGCPercent(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{0: mostGC, 4 << 20: mostGC, 10 << 20: 200, 16 << 20: 150, 24 << 20: 100, 60 << 20: leastGC, 1 << 30: leastGC} {
		if got := gcPercent(live); got != want {
			t.Errorf("%d MB live: %d %%, want %d %%", live>>20, got, want)
		}
	}
}
