package stream

import "testing"

// The room grows when a read fills it and shrinks when reads have been small for long.
func TestReadRoom(t *testing.T) {
	t.Parallel()
	var r ReadBuffer
	defer r.Free()
	step := func(took, want int) {
		t.Helper()
		r.CountRead(took)
		if got := len(r.Bytes()); got != want {
			t.Fatalf("after a read of %d bytes the room is %d, want %d", took, got, want)
		}
	}
	if got := len(r.Bytes()); got != SmallReadBytes {
		t.Fatalf("the first room is %d", got)
	}
	step(SmallReadBytes-1, SmallReadBytes)
	step(SmallReadBytes, LargeReadBytes)
	for range largePatience - 1 {
		step(100, LargeReadBytes)
	}
	step(SmallReadBytes+1, LargeReadBytes)
	for range largePatience - 1 {
		step(100, LargeReadBytes)
	}
	step(100, SmallReadBytes)
}
