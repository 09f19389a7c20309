package gateway

import (
	"sync/atomic"
	"time"

	"sluice/internal/domain/record"
)

// unrecordedEvery is the minimum interval between log messages about attempts that are not
// recorded. A failing journal rejects thousands of records a second, and the log may be on the
// same disk.
const unrecordedEvery = 10 * time.Second

// droppedRecords counts the attempts that the journal rejected. The zero value is ready for use.
// It is safe for concurrent use.
type droppedRecords struct {
	untold atomic.Int64
	next   atomic.Int64 // when the next log message is due, in Unix ns
}

// note counts an attempt. When a log message is due, it returns the number of attempts since the
// last message, otherwise 0.
func (u *droppedRecords) note(now time.Time) int64 {
	u.untold.Add(1)
	next := u.next.Load()
	if now.UnixNano() < next || !u.next.CompareAndSwap(next, now.Add(unrecordedEvery).UnixNano()) {
		return 0
	}
	return u.untold.Swap(0)
}

// droppedRecords counts an attempt that the journal rejected, and logs it with the earlier ones
// when a message is due. The access log has a line for each request.
func (re *recorder) droppedRecords(r *record.Attempt, err error) {
	re.metrics.unrecorded(r)
	if n := re.recordDrops.note(re.clock.Now()); n > 0 {
		re.log.Error("cannot record attempts", "attempts", n, "request_id", r.RequestID, "trace_id", r.TraceID, "error", err.Error())
	}
}
