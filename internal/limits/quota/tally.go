package quota

import (
	"math"
	"sync/atomic"
)

// schedule is when the usage of a budget, or of all counters of a policy, next resets:
// nanoseconds since 1970, 0 for never.
type schedule struct{ next atomic.Int64 }

// tally is the usage of a budget: what is stored and what is not stored yet. The store resets
// a budget only when its worker runs, and counts earlier usage only when it is flushed. Until
// then both are left out here, so that a reset happens on time, and once.
type tally struct {
	schedule *schedule
	base     int64 // as stored
	pending  int64 // settled here and not yet in base; negative while the store is ahead of Settle
	latest   int64 // when the last of it was settled
	early    int64 // part of pending used before the last reset, which the store does not count
	stored   bool  // the meter was stored at least once
	reset    int64 // last reset in the store
	waived   int64 // part of base used before the reset at waivedAt
	waivedAt int64 // 0 when nothing is waived
}

// unknownTime is the time of usage whose time is not known: no reset is after it.
const unknownTime = math.MaxInt64

func (t *tally) used() int64 { return Plus(t.base-t.waived, t.pending-t.early) }

// add counts what was used at a time.
func (t *tally) add(timeNano, units int64) {
	t.pending, t.latest = Plus(t.pending, units), max(t.latest, timeNano)
}

// roll waives what was used before a reset that is due, and reports whether one was. It undoes
// that if the clock goes back to before the reset.
func (t *tally) roll(timeNano int64) (begun bool) {
	due := t.schedule.next.Load()
	switch {
	case t.waivedAt != 0 && timeNano < t.waivedAt-clockSlack:
		t.waived, t.waivedAt, t.early = 0, 0, 0
	case due != 0 && timeNano >= due && t.reset < due && t.waivedAt < due:
		t.waived, t.waivedAt = t.base, due
		t.pass()
		return true
	}
	return false
}

// pass records that a reset happened after all pending usage.
func (t *tally) pass() { t.early = max(t.pending, 0) }

// flushed removes what was stored. Usage is stored nearly in the order in which it was
// settled, so early usage comes first.
func (t *tally) flushed(units int64) {
	early := min(t.early, units)
	t.pending, t.early = Plus(t.pending, -units), t.early-early
	if t.waivedAt != 0 { // the store has no reset yet that excludes it
		t.waived = Plus(t.waived, early)
	}
}

// load applies the stored values.
func (t *tally) load(used, reset int64) {
	if t.stored && t.reset < reset && t.latest < reset {
		t.pass()
	}
	t.base, t.reset, t.stored = used, reset, true
	if reset >= t.waivedAt {
		t.waived, t.waivedAt = 0, 0
	}
	t.waived = min(t.waived, t.base)
}
