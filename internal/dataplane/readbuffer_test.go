package dataplane

import "testing"

// The room grows when a read fills it and shrinks when reads have been small for long.
func TestReadRoom(t *testing.T) {
	t.Parallel()
	var r readBuffer
	defer r.free()
	step := func(took, want int) {
		t.Helper()
		r.took(took)
		if got := len(r.bytes()); got != want {
			t.Fatalf("after a read of %d bytes the room is %d, want %d", took, got, want)
		}
	}
	if got := len(r.bytes()); got != slowBytes {
		t.Fatalf("the first room is %d", got)
	}
	step(slowBytes-1, slowBytes)
	step(slowBytes, fastBytes)
	for range fastPatience - 1 {
		step(100, fastBytes)
	}
	step(slowBytes+1, fastBytes)
	for range fastPatience - 1 {
		step(100, fastBytes)
	}
	step(100, slowBytes)
}
