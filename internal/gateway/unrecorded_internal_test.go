package gateway

import (
	"testing"
	"time"
)

// What the log was not told of is in its next line.
func TestUnrecorded(t *testing.T) {
	t.Parallel()
	var u droppedRecords
	now := time.Now()
	for i, c := range []struct {
		after    time.Duration
		reported int64
	}{{0, 1}, {time.Second, 0}, {9 * time.Second, 0}, {10 * time.Second, 3}, {11 * time.Second, 0}, {time.Minute, 2}} {
		if n := u.note(now.Add(c.after)); n != c.reported {
			t.Errorf("%d: %d are told, not %d", i, n, c.reported)
		}
	}
}
