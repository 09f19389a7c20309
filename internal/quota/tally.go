package quota

import "sync/atomic"

// schedule is when the usage of a budget, or of all counters of a policy, begins anew:
// nanoseconds since 1970, 0 for never.
type schedule struct{ next atomic.Int64 }

// tally is what was used of a budget: what the store knows and what it is still to be
// told. The store resets a budget only when its worker comes to it; until then what was
// used before is waived here, so that the reset takes place on time.
type tally struct {
	schedule *schedule
	base     int64 // of the store
	pending  int64 // settled here and not yet in base; below 0 while the store is ahead of Settle
	stored   bool  // the store had it once
	reset    int64 // last reset that the store knows
	waived   int64 // of base and pending: used before the reset at waivedAt
	waivedAt int64 // 0 when nothing is waived
}

func (t *tally) used() int64 { return plus(t.base, t.pending) - t.waived }

// roll waives what was used before a reset that has come, which it reports, and takes
// that back when the clock goes back behind it.
func (t *tally) roll(at int64) (begun bool) {
	due := t.schedule.next.Load()
	switch {
	case t.waivedAt != 0 && at < t.waivedAt-clockSlack:
		t.waived, t.waivedAt = 0, 0
	case due != 0 && at >= due && t.reset < due && t.waivedAt < due:
		t.waived, t.waivedAt = plus(t.base, t.pending), due
		return true
	}
	return false
}

// load takes over what the store knows.
func (t *tally) load(used, reset int64) {
	t.base, t.reset, t.stored = used, reset, true
	if reset >= t.waivedAt {
		t.waived, t.waivedAt = 0, 0
	}
	t.waived = min(t.waived, plus(t.base, t.pending))
}
