package redis

import (
	"time"

	"sluice/internal/quota"
)

// Settle is quota.Bank's, for all nodes: nobody waits until they know.
func (b *Bank) Settle(now time.Time, holds []quota.Hold, used []int64) {
	if len(holds) == 0 {
		return
	}
	p := b.partition(holds[0].Org)
	var room [8]quota.NodeShare
	p.mu.RLock()
	moves := b.own.SettleParts(b.now(now), holds, used, room[:0])
	if len(moves) > 0 {
		p.queue.move(moves)
	}
	p.mu.RUnlock()
	if len(moves) > 0 {
		p.wake()
	}
}

// State is where a limit stands, as far as this node knows: exactly after it reserved.
func (b *Bank) State(now time.Time, h *quota.Hold) quota.State { return b.own.State(b.now(now), h) }

// Sync is quota.Bank's.
func (b *Bank) Sync(f func() error) error { return b.own.Sync(f) }

// AddUnflushed is quota.Bank's, before Run: the node's first statement has it.
func (b *Bank) AddUnflushed(parts []quota.NodeShare) { b.own.AddUnflushed(parts) }

// Load is quota.Bank's: Redis has, or reads, what there is.
func (b *Bank) Load(meters []quota.Meter) { b.own.Load(meters) }

// Replace is quota.Bank's, and tells Redis of resets.
func (b *Bank) Replace(carrier string, meters []quota.Meter) {
	b.own.Replace(carrier, meters)
	for i := range meters {
		m := &meters[i]
		if m.Head() || m.LastReset.IsZero() {
			continue
		}
		p := b.partition(m.OrgID)
		p.queue.tell([]storeUpdate{{id: budgetID(m.CounterID()), used: m.Used, reset: msOf(m.LastReset), known: true, resets: true, at: time.Now()}})
		p.wake()
	}
}

// MarkFlushed is quota.Bank's, and tells Redis: what all have used is what it was.
func (b *Bank) MarkFlushed(deltas []quota.Delta, readBack []quota.Meter) {
	for p, f := range b.byPartition(deltas, readBack) {
		p.mu.RLock()
		b.own.MarkFlushed(f.deltas, f.meters)
		p.queue.tell(f.told)
		p.mu.RUnlock()
		p.wake()
	}
}

// Corrected tells Redis that corrections of what was used were stored, of the counters that
// deltas name: what the store said of them before is void. readBack are their meters.
func (b *Bank) Corrected(deltas []quota.Delta, readBack []quota.Meter) {
	orgs := make(map[quota.CounterID]string, len(readBack))
	for i := range readBack {
		orgs[readBack[i].CounterID()] = readBack[i].OrgID
	}
	lists := make(map[*partition][]storeUpdate)
	for _, d := range deltas {
		if org, there := orgs[d.CounterID()]; there {
			p := b.partition(org)
			lists[p] = append(lists[p], storeUpdate{id: budgetID(d.CounterID()), amends: true, at: time.Now()})
		}
	}
	for p, list := range lists {
		p.queue.tell(list)
		p.wake()
	}
}

// flushed is what was stored of the budgets in one partition.
type flushed struct {
	deltas []quota.Delta
	meters []quota.Meter
	told   []storeUpdate
}

// byPartition sorts what was stored. Usage of which nobody knows whose it is has no
// counter here and no meter in the store: nobody has a limit for it.
func (b *Bank) byPartition(deltas []quota.Delta, readBack []quota.Meter) map[*partition]*flushed {
	out := make(map[*partition]*flushed)
	at := func(org string) *flushed {
		p := b.partition(org)
		if out[p] == nil {
			out[p] = new(flushed)
		}
		return out[p]
	}
	meters := make(map[quota.CounterID]*quota.Meter, len(readBack))
	for i := range readBack {
		m := &readBack[i]
		f := at(m.OrgID)
		f.meters = append(f.meters, *m)
		meters[m.CounterID()] = m
	}
	sums := make(map[quota.CounterID]int64, len(readBack))
	for _, d := range deltas {
		id := d.CounterID()
		org := b.own.OrgOf(id)
		if m := meters[id]; m != nil {
			org = m.OrgID
		}
		f := at(org)
		f.deltas = append(f.deltas, d)
		sums[id] += d.Units
	}
	for id, units := range sums {
		t := storeUpdate{id: budgetID(id), stored: clamp(units), at: time.Now()}
		org := b.own.OrgOf(id)
		if m := meters[id]; m != nil {
			org, t.used, t.reset, t.known = m.OrgID, m.Used, msOf(m.LastReset), true
		}
		f := at(org)
		f.told = append(f.told, t)
	}
	return out
}
