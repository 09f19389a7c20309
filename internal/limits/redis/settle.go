package redis

import (
	"time"

	"sluice/internal/limits/quota"
)

// Settle works like quota.Limiter.Settle, for all nodes. It does not wait until they have the
// result.
func (b *Limiter) Settle(now time.Time, holds []quota.Hold, used []int64) {
	if len(holds) == 0 {
		return
	}
	p := b.partition(holds[0].Org)
	var buf [8]quota.NodeShare
	p.mu.RLock()
	moves := b.local.SettleShares(b.now(now), holds, used, buf[:0])
	if len(moves) > 0 {
		p.queue.move(moves)
	}
	p.mu.RUnlock()
	if len(moves) > 0 {
		p.wake()
	}
}

// State returns the state of a limit as far as this node knows it. After a reservation it is
// exact.
func (b *Limiter) State(now time.Time, h *quota.Hold) quota.State {
	return b.local.State(b.now(now), h)
}

// Sync works like quota.Limiter.Sync.
func (b *Limiter) Sync(f func() error) error { return b.local.Sync(f) }

// AddUnflushed works like quota.Limiter.AddUnflushed. It must be called before Run; the node's
// first statement includes it.
func (b *Limiter) AddUnflushed(parts []quota.NodeShare) { b.local.AddUnflushed(parts) }

// Load works like quota.Limiter.Load. Redis already has the values, or reads them.
func (b *Limiter) Load(meters []quota.Meter) { b.local.Load(meters) }

// Replace works like quota.Limiter.Replace, and sends resets to Redis.
func (b *Limiter) Replace(subjectID string, meters []quota.Meter) {
	b.local.Replace(subjectID, meters)
	for i := range meters {
		m := &meters[i]
		if m.Head() || m.LastReset.IsZero() {
			continue
		}
		p := b.partition(m.OrgID)
		p.queue.addUpdates([]storeUpdate{{id: budgetID(m.CounterID()), used: m.Used, reset: msOf(m.LastReset), known: true, resets: true, queuedAt: time.Now()}})
		p.wake()
	}
}

// MarkFlushed works like quota.Limiter.MarkFlushed, and sends the update to Redis. The total
// usage does not change.
func (b *Limiter) MarkFlushed(deltas []quota.Delta, latest []quota.Meter) {
	for p, f := range b.byPartition(deltas, latest) {
		p.mu.RLock()
		b.local.MarkFlushed(f.deltas, f.meters)
		p.queue.addUpdates(f.updates)
		p.mu.RUnlock()
		p.wake()
	}
}

// Corrected reports to Redis that corrections of usage were stored, for the counters in
// deltas. Earlier stored values are then invalid. latest are their meters.
func (b *Limiter) Corrected(deltas []quota.Delta, latest []quota.Meter) {
	orgs := make(map[quota.CounterID]string, len(latest))
	for i := range latest {
		orgs[latest[i].CounterID()] = latest[i].OrgID
	}
	lists := make(map[*partition][]storeUpdate)
	for _, d := range deltas {
		if org, there := orgs[d.CounterID()]; there {
			p := b.partition(org)
			lists[p] = append(lists[p], storeUpdate{id: budgetID(d.CounterID()), amends: true, queuedAt: time.Now()})
		}
	}
	for p, list := range lists {
		p.queue.addUpdates(list)
		p.wake()
	}
}

// flushed is what was stored of the budgets in one partition.
type flushed struct {
	deltas  []quota.Delta
	meters  []quota.Meter
	updates []storeUpdate
}

// byPartition groups what was stored by partition. Usage of an unknown organisation has no
// counter here and no meter in the store, so no limit depends on it.
func (b *Limiter) byPartition(deltas []quota.Delta, latest []quota.Meter) map[*partition]*flushed {
	out := make(map[*partition]*flushed)
	forOrg := func(org string) *flushed {
		p := b.partition(org)
		if out[p] == nil {
			out[p] = new(flushed)
		}
		return out[p]
	}
	meters := make(map[quota.CounterID]*quota.Meter, len(latest))
	for i := range latest {
		m := &latest[i]
		f := forOrg(m.OrgID)
		f.meters = append(f.meters, *m)
		meters[m.CounterID()] = m
	}
	totals := make(map[quota.CounterID]int64, len(latest))
	for _, d := range deltas {
		id := d.CounterID()
		org := b.local.OrgOf(id)
		if m := meters[id]; m != nil {
			org = m.OrgID
		}
		f := forOrg(org)
		f.deltas = append(f.deltas, d)
		totals[id] += d.Units
	}
	for id, units := range totals {
		t := storeUpdate{id: budgetID(id), stored: clamp(units), queuedAt: time.Now()}
		org := b.local.OrgOf(id)
		if m := meters[id]; m != nil {
			org, t.used, t.reset, t.known = m.OrgID, m.Used, msOf(m.LastReset), true
		}
		f := forOrg(org)
		f.updates = append(f.updates, t)
	}
	return out
}
