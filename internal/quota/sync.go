package quota

import (
	"slices"
	"time"
)

// Sync runs f alone. Who reads meters and brings them here does both within one f: else
// what was read before a flush could replace what was read behind it.
func (b *Limiter) Sync(f func() error) error {
	b.syncing.Lock()
	defer b.syncing.Unlock()
	return f()
}

// Load takes over what the store knows of budgets, for example all of it at the start,
// a page at a time. Usage that was settled and not flushed stays on top of it.
func (b *Limiter) Load(meters []Meter) {
	for i := range meters { // the schedule of a policy comes behind the resets that it led to
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

// Replace is Load of all meters that a carrier has: those that the store had before and
// has no more are forgotten.
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

// MarkFlushed tells that usage was committed, and what the store knew of its meters in that
// transaction. Each delta was settled here, or is about to be.
func (b *Limiter) MarkFlushed(deltas []Delta, latest []Meter) {
	for _, d := range deltas {
		b.flushed(d)
	}
	b.Load(latest)
}

// AddUnflushed counts usage of budgets that an earlier run settled and the store was not told of,
// as if it had been settled here: Flushed takes it out again. Of a Part what is held and
// the window mean nothing.
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
		c.others.Used = 0 // the store knows of it, or will tell
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

// CounterID names the counter of the meter.
func (m *Meter) CounterID() CounterID {
	if m.ValueKey != "" {
		return CounterID{Subject: m.ID, ValueKey: m.ValueKey}
	}
	return CounterID{Subject: m.ID, Entry: m.BudgetKey}
}

// CounterID names the counter that the usage was of.
func (d *Delta) CounterID() CounterID {
	if d.ValueKey != "" {
		return CounterID{Subject: d.SubjectID, ValueKey: d.ValueKey}
	}
	return CounterID{Subject: d.SubjectID, Entry: d.BudgetKey}
}

// nanos is a time in nanoseconds, 0 for never; timeOf reads it back.
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
