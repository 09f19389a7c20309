package quota

import (
	"slices"
	"time"
)

// Sync runs f while no other Sync runs. A caller that reads meters and loads them here does
// both within one f. Otherwise values read before a flush could replace those read after it.
func (b *Limiter) Sync(f func() error) error {
	b.syncing.Lock()
	defer b.syncing.Unlock()
	return f()
}

// Load applies the stored values of budgets, for example all of them at the start, a page at a
// time. Usage that is settled and not flushed is added to them.
func (b *Limiter) Load(meters []Meter) {
	for i := range meters { // apply the schedule of a policy after the resets that it caused
		if !meters[i].Head() {
			b.load(&meters[i])
		}
	}
	for i := range meters {
		if meters[i].Head() {
			b.reschedule(&meters[i])
		}
	}
}

// Replace is Load of all meters of a subject. Counters whose meters were stored before and are
// missing now are evicted.
func (b *Limiter) Replace(subjectID string, meters []Meter) {
	there := make(map[CounterID]bool, len(meters))
	for i := range meters {
		there[meters[i].CounterID()] = true
	}
	s := b.shard(subjectID)
	s.mu.Lock()
	if !slices.ContainsFunc(meters, func(m Meter) bool { return m.Head() }) {
		delete(s.schedules, subjectID)
	}
	for id, c := range s.counters {
		if id.Subject != subjectID || there[id] || c.rate {
			continue
		}
		c.mu.Lock()
		if c.tally.stored {
			c.gone.Store(true)
			delete(s.counters, id)
		}
		c.mu.Unlock()
	}
	s.mu.Unlock()
	b.Load(meters)
}

// MarkFlushed reports that usage was committed, and the meters as read in that transaction.
// Each delta was settled here, or is about to be.
func (b *Limiter) MarkFlushed(deltas []Delta, latest []Meter) {
	for _, d := range deltas {
		b.flushed(d)
	}
	b.Load(latest)
}

// AddUnflushed counts usage of budgets that an earlier run settled and did not store, as if it
// had been settled here. MarkFlushed removes it again. The Held and Window of a NodeShare are
// ignored.
func (b *Limiter) AddUnflushed(parts []NodeShare) {
	for i := range parts {
		b.addUnflushed(&parts[i])
	}
}

func (b *Limiter) addUnflushed(p *NodeShare) {
	for {
		c := b.counter(p.Counter, p.Org, "", 0)
		c.mu.Lock()
		if c.gone.Load() {
			c.mu.Unlock()
			continue
		}
		c.belong(p.Org)
		c.add(unknownTime, p.Used)
		c.mu.Unlock()
		return
	}
}

func (b *Limiter) flushed(d Delta) {
	id := d.CounterID()
	s := b.shard(id.Subject)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if c := s.counters[id]; c != nil {
		c.mu.Lock()
		c.tally.flushed(d.Units)
		c.mu.Unlock()
	}
}

func (b *Limiter) load(m *Meter) {
	id := m.CounterID()
	for {
		c := b.counter(id, m.OrgID, "", 0)
		c.mu.Lock()
		if c.gone.Load() {
			c.mu.Unlock()
			continue
		}
		c.tally.load(m.Used, nanos(m.LastReset))
		c.others.Used = 0 // the store includes it, or will
		c.belong(m.OrgID)
		if m.ValueKey == "" {
			c.tally.schedule.next.Store(nanos(m.NextReset))
		}
		c.mu.Unlock()
		return
	}
}

func (b *Limiter) reschedule(head *Meter) {
	s := b.shard(head.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.schedule(CounterID{Subject: head.ID, ValueKey: head.ID}).next.Store(nanos(head.NextReset))
}

// Head reports whether the meter is the head of a policy.
func (m *Meter) Head() bool { return m.BudgetKey == "" && m.ValueKey == "" }

// CounterID returns the id of the meter's counter.
func (m *Meter) CounterID() CounterID {
	if m.ValueKey != "" {
		return CounterID{Subject: m.ID, ValueKey: m.ValueKey}
	}
	return CounterID{Subject: m.ID, Entry: m.BudgetKey}
}

// CounterID returns the id of the counter that the usage belongs to.
func (d *Delta) CounterID() CounterID {
	if d.ValueKey != "" {
		return CounterID{Subject: d.SubjectID, ValueKey: d.ValueKey}
	}
	return CounterID{Subject: d.SubjectID, Entry: d.BudgetKey}
}

// nanos converts a time to nanoseconds since 1970, 0 for the zero time; timeOf converts it
// back.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func timeOf(nanos int64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}
