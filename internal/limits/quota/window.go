package quota

import "time"

// clockSlack is how far a clock may step back, or two readers of it differ, without an effect
// on windows and resets.
const clockSlack = int64(time.Minute)

// monday is the origin of all windows: 1970-01-05 00:00 UTC, in nanoseconds. Days, hours and
// minutes are aligned to it too.
const monday = 4 * 24 * int64(time.Hour)

// Window returns the length of a window of the unit, or 0 for an unknown unit.
func (u Unit) Window() time.Duration {
	switch u {
	case PerMinute:
		return time.Minute
	case PerHour:
		return time.Hour
	case PerDay:
		return 24 * time.Hour
	case PerWeek:
		return 7 * 24 * time.Hour
	}
	return 0
}

// begin returns the beginning of the window that contains a time, in nanoseconds since 1970.
func (u Unit) begin(timeNano int64) int64 {
	width := int64(u.Window())
	past := (timeNano - monday) % width
	if past < 0 {
		past += width
	}
	return timeNano - past
}

// window is the count of a rate in the current window.
type window struct {
	unit  Unit
	width int64  // of the unit; set by the first roll
	since int64  // its beginning
	turn  uint64 // number of windows so far
	used  int64
}

// roll advances to the window of a time and reports whether a new window begins. A clock that
// goes back stays in the window. If it goes back by more than clockSlack the window moves with
// its count, so that turning a clock cannot pass a limit.
func (w *window) roll(timeNano int64) bool {
	if past := timeNano - w.since; w.turn > 0 && past >= 0 && past < w.width { // nearly always
		return false
	}
	begin := w.unit.begin(timeNano)
	w.width = int64(w.unit.Window())
	switch {
	case begin > w.since || w.turn == 0:
		w.since, w.used = begin, 0
		w.turn++
		return true
	case w.since-timeNano > clockSlack:
		w.since = begin
	}
	return false
}

func (w *window) end() int64 { return w.since + int64(w.unit.Window()) }

// Begin returns the beginning of the window that contains a time.
func (u Unit) Begin(timeNano time.Time) time.Time {
	return time.Unix(0, u.begin(timeNano.UnixNano())).UTC()
}
