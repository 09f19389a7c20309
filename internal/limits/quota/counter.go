package quota

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// counter counts the usage of one limit and what calls in progress hold of it.
type counter struct {
	limiter *Limiter
	serial  uint64      // counters are locked in this order
	rate    bool        // counts in window, else in tally
	gone    atomic.Bool // evicted: no lookup finds it; set while mu is held

	mu     sync.Mutex   // guards the fields below
	calls  int          // number of calls that hold it
	org    string       // empty if not known
	others ClusterTotal // what other nodes had in addition, when this node last received it
	held   int64
	window window
	tally  tally
}

// roll advances the counter to a time. What was held in a window that ended is dropped.
func (c *counter) roll(timeNano int64) {
	switch {
	case !c.rate && c.tally.roll(timeNano):
		c.others.Used = 0
	case c.rate && c.window.roll(timeNano):
		c.held, c.others = 0, ClusterTotal{}
	}
}

func (c *counter) used() int64 {
	if c.rate {
		return c.window.used
	}
	return c.tally.used()
}

// add counts what was used at a time.
func (c *counter) add(timeNano, units int64) {
	if c.rate {
		c.window.used = Plus(c.window.used, units)
	} else {
		c.tally.add(timeNano, units)
	}
}

func (c *counter) addHold(timeNano int64, h *Hold) {
	c.calls++
	h.turn = c.window.turn
	if h.Spent {
		c.add(timeNano, h.amount())
	} else {
		c.held = Plus(c.held, h.amount())
	}
	s := c.clusterTotal()
	h.left = max(h.Limit-Plus(s.Used, s.Held), 0)
}

// releaseHold undoes addHold, except for what is spent, and returns how much it released.
func (c *counter) releaseHold(h *Hold) int64 {
	c.calls--
	if h.Spent || h.turn != c.window.turn {
		return 0
	}
	c.held -= h.amount()
	return h.amount()
}

// resetAt returns when the counter resets; the zero time means never.
func (c *counter) resetAt(timeNano int64) time.Time {
	when := int64(0)
	if c.rate {
		when = c.window.end()
	} else if next := c.tally.schedule.next.Load(); next > timeNano {
		when = next
	}
	return timeOf(when)
}

// idle reports whether the counter can be evicted without losing information.
func (c *counter) idle(timeNano int64) bool {
	switch {
	case c.calls > 0:
		return false
	case c.rate:
		return timeNano >= c.window.end()+clockSlack
	}
	return !c.tally.stored && c.tally.pending == 0
}

// lock locks the counters of holds, each once and in the order that prevents deadlocks. It
// appends them to counters.
func lock(counters []*counter, holds []Hold) []*counter {
	for i := range holds {
		if c := holds[i].taken; c != nil {
			counters = append(counters, c)
		}
	}
	slices.SortFunc(counters, func(a, b *counter) int { return cmp.Compare(a.serial, b.serial) })
	counters = slices.Compact(counters)
	for _, c := range counters {
		c.mu.Lock()
	}
	return counters
}

func unlock(locked []*counter) {
	for _, c := range locked {
		c.mu.Unlock()
	}
}

// Plus adds two amounts. A sum that does not fit an int64 becomes the largest or smallest
// int64.
func Plus(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}
