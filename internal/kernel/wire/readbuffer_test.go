package wire

import "testing"

// The buffer grows when a read fills it and shrinks after many small reads.
func TestReadBuffer_FollowsTheSizeOfReads(t *testing.T) {
	t.Parallel()
	var r ReadBuffer
	defer r.Free()
	step := func(took, want int) {
		t.Helper()
		r.Took(took)
		if got := len(r.Bytes()); got != want {
			t.Fatalf("after a read of %d bytes the buffer has %d, want %d", took, got, want)
		}
	}
	if got := len(r.Bytes()); got != SmallReadBytes {
		t.Fatalf("the first buffer has %d bytes", got)
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
