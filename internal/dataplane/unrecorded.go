package dataplane

import (
	"sync/atomic"
	"time"

	"sluice/internal/record"
)

// unrecordedEvery is how often the log is told at most that attempts are not on record: a
// journal that takes nothing refuses each of thousands in a second, and the log may be on the
// same disk.
const unrecordedEvery = 10 * time.Second

// droppedRecords are attempts that the journal did not take. The zero value is ready for use, by
// any number of goroutines.
type droppedRecords struct {
	untold atomic.Int64
	next   atomic.Int64 // when the log may be told again, in ns
}

// note counts an attempt, and returns how many there are that the log was not told of when it
// is to be told of them, else 0.
func (u *droppedRecords) note(now time.Time) int64 {
	u.untold.Add(1)
	next := u.next.Load()
	if now.UnixNano() < next || !u.next.CompareAndSwap(next, now.Add(unrecordedEvery).UnixNano()) {
		return 0
	}
	return u.untold.Swap(0)
}

// droppedRecords counts an attempt that the journal did not take, and has the log tell of it and
// of those before, naming this one. Its line for each request tells of all.
func (g *Gateway) droppedRecords(r *record.Attempt, err error) {
	g.Metrics.unrecorded(r)
	if n := g.recordDrops.note(g.Clock.Now()); n > 0 {
		g.Log.Error("cannot record attempts", "attempts", n, "request_id", r.RequestID, "trace_id", r.TraceID, "error", err.Error())
	}
}
