package quota

import "hash/maphash"

func (b *Limiter) shard(subjectID string) *shard {
	return &b.shards[maphash.String(b.seed, subjectID)%shards]
}

// counter finds a counter or creates it; org may be empty.
func (b *Limiter) counter(id CounterID, org string, u Unit, nowNano int64) *counter {
	return b.find(id, org, u, nowNano, true)
}

// find is counter. Only with sweeps may it evict idle counters for a new one. Counters that a
// call created and has not locked yet are idle too, and a call that repeats the lookup must
// eventually find all of them.
func (b *Limiter) find(id CounterID, org string, u Unit, nowNano int64, sweeps bool) *counter {
	s := b.shard(id.Subject)
	s.mu.RLock()
	c := s.counters[id]
	s.mu.RUnlock()
	if c != nil {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c = s.counters[id]; c != nil { // created meanwhile
		return c
	}
	if sweeps && len(s.counters) >= s.sweepAt {
		s.sweep(nowNano)
		s.sweepAt = max(2*len(s.counters), sweepSize)
	}
	c = &counter{limiter: b, serial: b.serial.Add(1), rate: u != "", org: org}
	if c.rate {
		c.window.unit = u
	} else {
		c.tally.schedule = s.schedule(id)
	}
	s.counters[id] = c
	return c
}

// schedule returns the schedule of a budget, or the one that all counters of a policy share.
func (s *shard) schedule(id CounterID) *schedule {
	if id.ValueKey == "" {
		return new(schedule)
	}
	sched := s.schedules[id.Subject]
	if sched == nil {
		sched = new(schedule)
		s.schedules[id.Subject] = sched
	}
	return sched
}

// sweep evicts idle counters. A locked counter is in use.
func (s *shard) sweep(nowNano int64) {
	for id, c := range s.counters {
		if !c.mu.TryLock() {
			continue
		}
		if c.idle(nowNano) {
			c.gone.Store(true)
			delete(s.counters, id)
		}
		c.mu.Unlock()
	}
}
