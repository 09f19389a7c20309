package quota

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Limiter holds the counters of all limits of a node, in memory: calls take from them
// before they are sent and settle when they end. Take and Settle are atomic over all
// holds of a call, so that calls at once never take more than a strict limit has. It is
// safe for concurrent use.
//
// Budgets are kept in the store: Load, Replace and Flushed bring what it knows. Rates
// live here alone, and counters whose window is over are forgotten.
type Limiter struct {
	seed    maphash.Seed
	serial  atomic.Uint64
	syncing sync.Mutex // held by Sync
	shards  [shards]shard
}

const (
	shards      = 64
	sweepSize   = 256 // counters of a shard below which nothing is forgotten
	inlineHolds = 64  // holds of a call whose locks need no allocation
)

// shard has all counters of the carriers that fall to it.
type shard struct {
	mu        sync.RWMutex // guards what follows; never taken by who holds a counter
	counters  map[CounterID]*counter
	schedules map[string]*schedule // of policies
	sweepAt   int                  // number of counters at which the idle ones are forgotten
}

// NewLimiter makes a bank without counters. They come into being when they are first used.
func NewLimiter() *Limiter {
	b := &Limiter{seed: maphash.MakeSeed()}
	for i := range b.shards {
		b.shards[i] = shard{counters: make(map[CounterID]*counter), schedules: make(map[string]*schedule), sweepAt: sweepSize}
	}
	return b
}

// Take takes all holds, or none when one does not fit. It returns -1, or the index of
// the first that does not fit, what is left of its limit, and when its counter begins
// anew; zero for never. Holds before it that are Spent remain used: a rate of requests
// counts refused calls too. Who took must call Settle, once.
//
// A budget fits when used + held + Amount is at most Limit and used is below it; a Soft
// one when used is below Limit, and one that takes the Rest when anything is left. So an
// Amount of 0 asks whether the budget is used up.
func (b *Limiter) Take(now time.Time, holds []Hold) (refused int, left int64, retry time.Time) {
	nowNano := now.UnixNano()
	var buf [inlineHolds]*counter
	locked := b.gather(buf[:0], holds, nowNano)
	defer unlock(locked)
	for i := range holds {
		h := &holds[i]
		c := h.taken
		c.roll(nowNano)
		s := c.clusterTotal()
		if !h.Fits(s.Used, s.Held) {
			left, retry = max(h.Limit-Plus(s.Used, s.Held), 0), c.resetAt(nowNano)
			refund(holds[:i])
			evict(holds[i:])
			return i, left, retry
		}
		h.reduce(max(h.Limit-Plus(s.Used, s.Held), 0))
		c.addHold(nowNano, h)
	}
	return -1, 0, time.Time{}
}

// Reserve is Take in the words of banks that ask other nodes (cluster/redis): this one
// neither waits nor fails.
func (b *Limiter) Reserve(_ context.Context, now time.Time, holds []Hold) (refused int, left int64, retry time.Time, err error) {
	refused, left, retry = b.Take(now, holds)
	return refused, left, retry, nil
}

// Defers is false: this bank answers at once. Banks that ask other nodes would rather be
// asked once for all holds of a call.
func (b *Limiter) Defers(time.Time, []Hold) bool { return false }

// gather finds the counters of holds and locks them.
func (b *Limiter) gather(buf []*counter, holds []Hold, nowNano int64) []*counter {
	for first := true; ; first = false {
		for i := range holds {
			holds[i].taken = b.resolve(&holds[i], nowNano, first)
		}
		locked := lock(buf, holds)
		if !slices.ContainsFunc(locked, func(c *counter) bool { return c.gone.Load() }) {
			return locked
		}
		unlock(locked)
	}
}

// refund undoes what was taken; the counters are locked.
func refund(holds []Hold) {
	for i := range holds {
		holds[i].taken.releaseHold(&holds[i])
	}
	evict(holds)
}

// evict marks holds as not taken.
func evict(holds []Hold) {
	for i := range holds {
		holds[i].taken = nil
	}
}

// Settle gives back what Take took and adds what was used, in the units of each hold and
// even beyond the limit; nil is nothing used, a call that was not sent. What was used of
// a rate counts in the window of now. Holds that are Spent are used already: their used
// is ignored. Holds that are not taken, or settled already, stay as they are.
func (b *Limiter) Settle(now time.Time, holds []Hold, used []int64) { b.settle(now, holds, used, nil) }

// settle is Settle; moves, unless it is nil, gets what that changed.
func (b *Limiter) settle(now time.Time, holds []Hold, used []int64, moves *[]NodeShare) {
	nowNano := now.UnixNano()
	var buf [inlineHolds]*counter
	locked := lock(buf[:0], holds) // one that is gone had its limit removed: what it gets harms nobody
	for i := range holds {
		h := &holds[i]
		c := h.taken
		if c == nil {
			continue
		}
		c.roll(nowNano)
		released := c.releaseHold(h)
		units := int64(0)
		if used != nil && !h.Spent {
			units = Counted(used[i])
			c.add(nowNano, units)
		}
		if moves != nil && (released != 0 || units != 0) {
			p := c.part(h.Counter, -released, units)
			if p.Unit == "" {
				p.Latest = timeOf(nowNano)
			}
			*moves = append(*moves, p)
		}
		h.taken = nil
	}
	unlock(locked)
}

// State is what a limit stands at.
type State struct {
	Used    int64 // may be above the limit
	Held    int64 // by calls under way
	Left    int64 // what may still be taken
	ResetAt time.Time
}

// State tells where the limit of a hold stands, taken or not. Anew is when it begins at
// nothing again; zero for never.
func (b *Limiter) State(now time.Time, h *Hold) State {
	nowNano := now.UnixNano()
	for c := h.taken; ; c = nil {
		if c == nil {
			c = b.resolve(h, nowNano, true)
		}
		c.mu.Lock()
		if c.gone.Load() {
			c.mu.Unlock()
			continue
		}
		c.roll(nowNano)
		all := c.clusterTotal()
		s := State{Used: all.Used, Held: all.Held, ResetAt: c.resetAt(nowNano)}
		c.mu.Unlock()
		s.Left = max(h.Limit-Plus(s.Used, s.Held), 0)
		return s
	}
}

// Len is how many counters there are.
func (b *Limiter) Len() (n int) {
	for i := range b.shards {
		s := &b.shards[i]
		s.mu.RLock()
		n += len(s.counters)
		s.mu.RUnlock()
	}
	return n
}
