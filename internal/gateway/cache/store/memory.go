package store

import (
	"context"
	"sync/atomic"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/lru"
	"sluice/internal/kernel/ident"
)

// Memory stores entries in the memory of the process. They end with it. Create one with NewMemory.
type Memory struct {
	entries *lru.Map[*entry.Entry]
	counts  Counters
}

var _ Store = (*Memory)(nil)

// maxMemoryEntries bounds the entries in memory. Entries of 1 KB reach it at 1 GB.
const maxMemoryEntries = 1 << 20

// NewMemory returns an empty store of at most maxBytes.
func NewMemory(maxBytes int64, clock ident.Clock) *Memory {
	m := new(Memory)
	m.entries = lru.New(lru.Options[*entry.Entry]{MaxBytes: maxBytes, MaxEntries: maxMemoryEntries, Clock: clock,
		Removed: func(_ lru.Item[*entry.Entry], c lru.Cause) { m.counts.Removed(c) }})
	return m
}

// Get implements Store.
func (m *Memory) Get(_ context.Context, key cachekey.Key) (*entry.Entry, bool) {
	e, ok := m.entries.Get(key)
	m.counts.Lookup(ok)
	return e, ok
}

// Put implements Store.
func (m *Memory) Put(_ context.Context, key cachekey.Key, e *entry.Entry) {
	m.counts.Put(m.entries.Put(lru.Item[*entry.Entry]{Key: key, Value: e, Size: e.Size(), Expires: e.Expires}))
}

// Delete implements Store.
func (m *Memory) Delete(_ context.Context, key cachekey.Key, f *entry.Filter) (bool, error) {
	return m.entries.Delete(key, matching(f)), nil
}

// Purge implements Store.
func (m *Memory) Purge(_ context.Context, f *entry.Filter) ([]cachekey.Key, error) {
	return m.entries.DeleteMatching(matching(f)), nil
}

// IsMissing implements Store.
func (m *Memory) IsMissing(_ context.Context, key cachekey.Key) bool {
	_, ok := m.entries.Get(key)
	return !ok
}

// matching returns the condition of a filter.
func matching(f *entry.Filter) func(*lru.Item[*entry.Entry]) bool {
	return func(it *lru.Item[*entry.Entry]) bool { return f.Selects(it.Value) }
}

// Stats implements Store.
func (m *Memory) Stats() Stats {
	s := m.counts.Stats()
	s.Entries, s.Bytes = m.entries.Len()
	return s
}

// Close implements Store.
func (m *Memory) Close() error { return nil }

// Counters are the counts of one store. The zero value is ready to use. It is safe for concurrent
// use.
type Counters struct {
	Hits, Misses, Stored, Evictions, Expired, Dropped, Failures, Corrupt atomic.Int64
}

// Lookup counts a lookup.
func (c *Counters) Lookup(hit bool) {
	if hit {
		c.Hits.Add(1)
	} else {
		c.Misses.Add(1)
	}
}

// Put counts an entry that was stored, or dropped.
func (c *Counters) Put(stored bool) {
	if stored {
		c.Stored.Add(1)
	} else {
		c.Dropped.Add(1)
	}
}

// Removed counts an entry that was removed.
func (c *Counters) Removed(cause lru.Cause) {
	switch cause {
	case lru.Evicted:
		c.Evictions.Add(1)
	case lru.Expired:
		c.Expired.Add(1)
	case lru.Replaced, lru.Deleted: // requested
	}
}

// Stats returns the counts, without Entries and Bytes.
func (c *Counters) Stats() Stats {
	return Stats{
		Hits: c.Hits.Load(), Misses: c.Misses.Load(), Stored: c.Stored.Load(), Evictions: c.Evictions.Load(),
		Expired: c.Expired.Load(), Dropped: c.Dropped.Load(), Failures: c.Failures.Load(), Corrupt: c.Corrupt.Load(),
	}
}
