package wire_test

import (
	"testing"

	"sluice/internal/kernel/wire"
)

// A room holds what was asked for, is not much larger, and may come again once it was
// given back.
func TestLend(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 1 << 10, 1<<10 + 1, 4000, 64 << 10, 1<<20 + 1} {
		first, second := wire.GetBuffer(n), wire.GetBuffer(n)
		for _, b := range [][]byte{*first, *second} {
			if len(b) < n || len(b) > max(2*n, 1<<10) || len(b) != cap(b) {
				t.Errorf("asked for %d bytes, got %d of %d", n, len(b), cap(b))
			}
		}
		if &(*first)[0] == &(*second)[0] {
			t.Errorf("one room of %d bytes is lent twice", n)
		}
		wire.PutBuffer(first)
		wire.PutBuffer(second)
	}
}
