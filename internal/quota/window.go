package quota

import "time"

// clockSlack is how far a clock may step back, or two readers of it differ, without any
// effect on windows and resets.
const clockSlack = int64(time.Minute)

// monday is where windows are aligned: 1970-01-05 00:00 UTC, in nanoseconds. Days, hours
// and minutes begin there too.
const monday = 4 * 24 * int64(time.Hour)

// Window is how long a window of the unit is; 0 for a unit that is none.
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

// begin is the beginning of the window in which a time lies, in nanoseconds since 1970.
func (u Unit) begin(timeNano int64) int64 {
	width := int64(u.Window())
	past := (timeNano - monday) % width
	if past < 0 {
		past += width
	}
	return timeNano - past
}

// window is what a rate counted in the present window.
type window struct {
	unit  Unit
	width int64  // of the unit, once it rolled
	since int64  // its beginning
	turn  uint64 // how many there were
	used  int64
}

// roll goes on to the window of a time and reports whether it is another one. A clock
// that goes back stays in the window or, by more than clockSlack, takes what was
// counted along, so that no limit is passed by turning a clock.
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

// Begin is the beginning of the window in which a time lies.
func (u Unit) Begin(timeNano time.Time) time.Time {
	return time.Unix(0, u.begin(timeNano.UnixNano())).UTC()
}
