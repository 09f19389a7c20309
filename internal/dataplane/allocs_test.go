package dataplane_test

import (
	"runtime/debug"
	"testing"
)

// chatAllocs is the recorded baseline of the plain chat path: allocations from the
// front's request, whose own three are among them, to the end of the answer, the
// transport included. They are 13 or 14, as pools are met full or empty. Raise it only
// with a reason in the commit.
const chatAllocs = 14

// It is not parallel, because allocations are counted for the whole process, and runs
// without collections, which would empty the pools.
func TestChatAllocations(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if n := testing.AllocsPerRun(500, benchChat(t)); n > chatAllocs && !raceEnabled {
		t.Errorf("a plain chat call allocates %.0f times; the baseline is %d", n, chatAllocs)
	}
}
