package quota

import (
	"slices"
	"time"
)

// The functions here are for nodes that share their counters. A shared store decides what a
// call may take. The Limiter of each node records the share of that node, so that the share
// can be reported again at any time.

// NodeShare is what one node has of a counter, or a change of that.
type NodeShare struct {
	Counter CounterID
	Org     string
	Unit    Unit      // of a rate; empty for budgets
	Window  time.Time // beginning of the window in which a rate counted; zero for budgets
	Held    int64     // by calls in progress
	Used    int64     // of a budget: not stored yet; of a rate: everything in the window
	Latest  time.Time // of a budget: when the last of Used was used
	Since   time.Time // of a budget: its last reset, by schedule or as stored; zero for none
	Early   int64     // of a budget: the part of Used before Since, which does not count
}

// ClusterTotal is what all nodes together have of a counter.
type ClusterTotal struct{ Used, Held int64 }

// TakeUnchecked takes all holds without checking whether they fit; the caller must have
// checked that elsewhere. found is the cluster total for each hold at that time, including the
// hold itself; nil means that it is not known. A hold whose window is over on this node counts
// nowhere. The caller must call Settle as after Take.
func (b *Limiter) TakeUnchecked(now time.Time, holds []Hold, found []ClusterTotal) {
	nowNano := now.UnixNano()
	var buf [inlineHolds]*counter
	locked := b.gather(buf[:0], holds, nowNano)
	defer unlock(locked)
	for i := range holds {
		h := &holds[i]
		c := h.taken
		c.belong(h.Org)
		if c.roll(nowNano); c.isWindowPast(nowNano) {
			c.calls++
			h.turn = 0
			continue
		}
		c.addHold(nowNano, h)
		if found != nil {
			localTotal := ClusterTotal{c.used(), c.held}
			c.others = ClusterTotal{max(found[i].Used-localTotal.Used, 0), max(found[i].Held-localTotal.Held, 0)}
		}
	}
}

// CountRejected counts the Spent holds of a call that a later hold rejected. Nothing else is
// taken.
func (b *Limiter) CountRejected(now time.Time, holds []Hold) {
	spent := slices.DeleteFunc(slices.Clone(holds), func(h Hold) bool { return !h.Spent })
	b.TakeUnchecked(now, spent, nil)
	b.Settle(now, spent, nil)
}

// SettleShares is Settle and appends the resulting changes to moves.
func (b *Limiter) SettleShares(now time.Time, holds []Hold, used []int64, moves []NodeShare) []NodeShare {
	b.settle(now, holds, used, &moves)
	return moves
}

// Parts calls visit with the share of this node: of each budget that has usage or holds, and
// of each rate whose window is not over. Counters may change meanwhile, unless the caller
// prevents it.
func (b *Limiter) Parts(now time.Time, visit func(NodeShare)) {
	nowNano := now.UnixNano()
	for i := range b.shards {
		s := &b.shards[i]
		s.mu.RLock()
		for id, c := range s.counters {
			c.mu.Lock()
			var p NodeShare
			var there bool
			if c.rate {
				p, there = c.part(id, c.held, c.window.used), nowNano < c.window.end()
			} else {
				c.roll(nowNano)
				p = c.part(id, c.held, c.tally.pending)
				p.Latest, p.Early, there = timeOf(c.tally.latest), c.tally.early, p.Held != 0 || p.Used != 0
			}
			c.mu.Unlock()
			if there {
				visit(p)
			}
		}
		s.mu.RUnlock()
	}
}

// Due returns when the usage of a hold's budget next resets, according to the store; zero for
// never and for rates.
func (b *Limiter) Due(h *Hold) time.Time {
	if h.Unit != "" {
		return time.Time{}
	}
	c := b.counter(h.Counter, h.Org, h.Unit, 0)
	return timeOf(c.tally.schedule.next.Load())
}

// OrgOf returns the organisation of a counter; empty if it is not known.
func (b *Limiter) OrgOf(id CounterID) string {
	s := b.shard(id.Subject)
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.counters[id]
	if c == nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.org
}

// clusterTotal returns the total of the counter on this and other nodes.
func (c *counter) clusterTotal() ClusterTotal {
	return ClusterTotal{Plus(c.used(), c.others.Used), Plus(c.held, c.others.Held)}
}

// part returns a share of the counter, or a change of it, with these amounts.
func (c *counter) part(id CounterID, held, used int64) NodeShare {
	p := NodeShare{Counter: id, Org: c.org, Held: held, Used: used}
	if c.rate {
		p.Unit, p.Window = c.window.unit, time.Unix(0, c.window.since).UTC()
	} else {
		p.Since = timeOf(max(c.tally.reset, c.tally.waivedAt))
	}
	return p
}

// belong records the organisation of the counter, unless it is already known.
func (c *counter) belong(org string) {
	if c.org == "" {
		c.org = org
	}
}

// isWindowPast reports whether the window of nowNano is before the window of the counter.
func (c *counter) isWindowPast(nowNano int64) bool {
	return c.rate && c.window.unit.begin(nowNano) < c.window.since
}

// Taken returns the share that a taken hold has of its counter.
func (b *Limiter) Taken(h *Hold) NodeShare {
	c := h.taken
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.Spent {
		return c.part(h.Counter, 0, h.amount())
	}
	return c.part(h.Counter, h.amount(), 0)
}
