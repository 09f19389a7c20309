package quota

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Limiter holds the counters of all limits of a node, in memory. A call takes from them before
// it is sent and settles when it ends. Take and Settle are atomic over all holds of a call, so
// concurrent calls never take more than a strict limit has. It is safe for concurrent use.
//
// The store contains the budgets: Load, Replace and MarkFlushed apply its values here. Rates
// exist only here. Counters whose window is over are evicted.
type Limiter struct {
	seed    maphash.Seed
	serial  atomic.Uint64
	syncing sync.Mutex // held by Sync
	shards  [shards]shard
}

const (
	shards      = 64
	sweepSize   = 256 // counters of a shard below which none is evicted
	inlineHolds = 64  // holds of a call whose locks need no allocation
)

// shard has all counters of the subjects that hash to it.
type shard struct {
	mu        sync.RWMutex // guards the fields below; never taken while a counter is locked
	counters  map[CounterID]*counter
	schedules map[string]*schedule // of policies
	sweepAt   int                  // number of counters at which idle ones are evicted
}

// NewLimiter returns a limiter without counters. A counter is created when it is first used.
func NewLimiter() *Limiter {
	b := &Limiter{seed: maphash.MakeSeed()}
	for i := range b.shards {
		b.shards[i] = shard{counters: make(map[CounterID]*counter), schedules: make(map[string]*schedule), sweepAt: sweepSize}
	}
	return b
}

// Take takes all holds, or none if one does not fit. It returns -1, or the index of the first
// hold that does not fit, what is left of its limit, and when its counter resets; the zero
// time means never. Spent holds before that index remain used: a rate of requests counts
// rejected calls too. After a successful Take the caller must call Settle once.
//
// A budget fits if used + held + Amount is at most Limit and used is below Limit. A Soft
// budget fits if used is below Limit, and one with Rest if anything is left. An Amount of 0
// checks whether the budget is used up.
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

// Reserve is Take with the signature of limiters that call other nodes (cluster/redis). This
// limiter does not wait and does not fail.
func (b *Limiter) Reserve(_ context.Context, now time.Time, holds []Hold) (refused int, left int64, retry time.Time, err error) {
	refused, left, retry = b.Take(now, holds)
	return refused, left, retry, nil
}

// Defers returns false: this limiter responds at once. A limiter that calls other nodes may
// return true, so that all holds of a call are reserved in one request.
func (b *Limiter) Defers(time.Time, []Hold) bool { return false }

// gather finds the counters of holds and locks them. It repeats if one was evicted meanwhile.
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

// refund releases what was taken. The counters must be locked.
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

// Settle releases what Take took and adds what was used, in the units of each hold, even
// beyond the limit. A nil used means that nothing was used: the call was not sent. Usage of a
// rate counts in the window of now. Spent holds are already used, so their used is ignored.
// Holds that are not taken, or are already settled, do not change.
func (b *Limiter) Settle(now time.Time, holds []Hold, used []int64) { b.settle(now, holds, used, nil) }

// settle is Settle. Unless moves is nil, it appends the resulting changes to it.
func (b *Limiter) settle(now time.Time, holds []Hold, used []int64, moves *[]NodeShare) {
	nowNano := now.UnixNano()
	var buf [inlineHolds]*counter
	locked := lock(buf[:0], holds) // an evicted counter had its limit removed, so changing it has no effect
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

// State is the current state of a limit.
type State struct {
	Used    int64 // may be above the limit
	Held    int64 // by calls in progress
	Left    int64 // what may still be taken
	ResetAt time.Time
}

// State returns the state of the limit of a hold, taken or not. ResetAt is when its counter
// resets; the zero time means never.
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

// Len returns the number of counters.
func (b *Limiter) Len() (n int) {
	for i := range b.shards {
		s := &b.shards[i]
		s.mu.RLock()
		n += len(s.counters)
		s.mu.RUnlock()
	}
	return n
}
