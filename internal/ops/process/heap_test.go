package process

import "testing"

func TestGCPercent(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{0: maxGCPercent, 4 << 20: maxGCPercent, 10 << 20: 200, 16 << 20: 150, 24 << 20: 100, 60 << 20: minGCPercent, 1 << 30: minGCPercent} {
		if got := gcPercent(live); got != want {
			t.Errorf("%d MB live: %d %%, want %d %%", live>>20, got, want)
		}
	}
}
