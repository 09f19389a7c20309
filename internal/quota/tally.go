package quota

import (
	"math"
	"sync/atomic"
)

// schedule is when the usage of a budget, or of all counters of a policy, begins anew:
// nanoseconds since 1970, 0 for never.
type schedule struct{ next atomic.Int64 }

// tally is what was used of a budget: what the store knows and what it is still to be
// told. The store resets a budget only when its worker comes to it, and what was used before
// it is told of, only when that is flushed; until then both are left out here, so that a
// reset takes place on time, and once.
type tally struct {
	schedule *schedule
	base     int64 // of the store
	pending  int64 // settled here and not yet in base; below 0 while the store is ahead of Settle
	latest   int64 // when the last of it was settled
	early    int64 // of pending: used before the last reset, of which the store counts none
	stored   bool  // the store had it once
	reset    int64 // last reset that the store knows
	waived   int64 // of base: used before the reset at waivedAt
	waivedAt int64 // 0 when nothing is waived
}

// unknownTime is when usage was settled of which nobody knows when: no reset is behind it.
const unknownTime = math.MaxInt64

func (t *tally) used() int64 { return Plus(t.base-t.waived, t.pending-t.early) }

// add counts what was used at a time.
func (t *tally) add(timeNano, units int64) {
	t.pending, t.latest = Plus(t.pending, units), max(t.latest, timeNano)
}

// roll waives what was used before a reset that has come, which it reports, and takes
// that back when the clock goes back behind it.
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

// pass notes that there was a reset behind all that is pending.
func (t *tally) pass() { t.early = max(t.pending, 0) }

// flushed takes out what the store was told of. It hears of usage in the order in which
// that was settled, nearly: what was early comes first.
func (t *tally) flushed(units int64) {
	early := min(t.early, units)
	t.pending, t.early = Plus(t.pending, -units), t.early-early
	if t.waivedAt != 0 { // the store has no reset that would keep it out
		t.waived = Plus(t.waived, early)
	}
}

// load takes over what the store knows.
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
