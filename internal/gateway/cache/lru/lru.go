// Package lru is a map of cache keys whose values have a size and a time of expiry. It is bounded
// in bytes and in entries, and removes the values first that were not used for the longest time.
// It is divided into shards, so that calls rarely wait for each other. Start with Map.
package lru

import (
	"sync"
	"time"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/kernel/ident"
)

// Cause is why a value was removed.
type Cause int

// The causes.
const (
	Evicted  Cause = iota // its memory was needed
	Expired               // its time was over
	Replaced              // another value was put under its key
	Deleted               // Delete or DeleteMatching removed it
)

// Item is a value with what the map needs to know of it.
type Item[V any] struct {
	Key     cachekey.Key
	Value   V
	Size    int64 // in bytes
	Expires time.Time
}

// Options are the limits of a map. All are required, except Removed.
type Options[V any] struct {
	MaxBytes   int64
	MaxEntries int
	Clock      ident.Clock
	// Removed is called for each value that was removed, after the lock of its shard was released.
	// Nil ignores them.
	Removed func(Item[V], Cause)
}

// Map is safe for concurrent use. Create one with New.
type Map[V any] struct {
	o      Options[V]
	shards []shard[V]
}

// shard is a part of the map with its own lock.
type shard[V any] struct {
	mu    sync.Mutex // guards the rest
	nodes map[cachekey.Key]*node[V]
	root  node[V] // ring: next is the newest, prev the oldest
	bytes int64
}

type node[V any] struct {
	Item[V]
	prev, next *node[V]
}

// These determine the number of shards: a shard must have space for large values.
const (
	maxShards     = 32
	minShardBytes = 32 << 20
)

// New returns an empty map.
func New[V any](o Options[V]) *Map[V] {
	count := 1
	for count < maxShards && o.MaxBytes/int64(2*count) >= minShardBytes && o.MaxEntries >= 2*count {
		count *= 2
	}
	m := &Map[V]{o: o, shards: make([]shard[V], count)}
	for i := range m.shards {
		s := &m.shards[i]
		s.nodes = make(map[cachekey.Key]*node[V])
		s.root.prev, s.root.next = &s.root, &s.root
	}
	return m
}

// MaxSize is the size of the largest value that the map can store, in bytes.
func (m *Map[V]) MaxSize() int64 { return m.o.MaxBytes / int64(len(m.shards)) }

func (m *Map[V]) shard(k cachekey.Key) *shard[V] { return &m.shards[int(k[0])%len(m.shards)] }

// Get returns the value of a key, unless it has expired, and marks it as used.
func (m *Map[V]) Get(k cachekey.Key) (v V, ok bool) {
	now := m.o.Clock.Now()
	s := m.shard(k)
	s.mu.Lock()
	n := s.nodes[k]
	expired := n != nil && !now.Before(n.Expires)
	switch {
	case expired:
		s.remove(n)
	case n != nil:
		s.unlink(n)
		s.link(n)
		v, ok = n.Value, true
	}
	s.mu.Unlock()
	if expired {
		m.report(n, Expired)
	}
	return v, ok
}

// Put stores a value. It returns false if the value is larger than MaxSize or has expired; an older
// value of the key is then removed.
func (m *Map[V]) Put(it Item[V]) bool {
	if it.Size > m.MaxSize() || !m.o.Clock.Now().Before(it.Expires) {
		m.Delete(it.Key, nil)
		return false
	}
	s := m.shard(it.Key)
	s.mu.Lock()
	old := s.nodes[it.Key]
	if old != nil {
		s.remove(old)
	}
	n := &node[V]{Item: it}
	s.nodes[it.Key] = n
	s.bytes += it.Size
	s.link(n)
	evicted := s.evict(m.MaxSize(), m.o.MaxEntries/len(m.shards))
	s.mu.Unlock()
	if old != nil {
		m.report(old, Replaced)
	}
	for ; evicted != nil; evicted = evicted.next {
		m.report(evicted, Evicted)
	}
	return true
}

// Delete removes the value of a key if match accepts it; nil accepts any. It returns whether a
// value was removed. Match is called with the lock of the shard.
func (m *Map[V]) Delete(k cachekey.Key, match func(*Item[V]) bool) bool {
	s := m.shard(k)
	s.mu.Lock()
	n := s.nodes[k]
	found := n != nil && (match == nil || match(&n.Item))
	if found {
		s.remove(n)
	}
	s.mu.Unlock()
	if found {
		m.report(n, Deleted)
	}
	return found
}

// DeleteMatching removes all values that match accepts, and returns their keys.
func (m *Map[V]) DeleteMatching(match func(*Item[V]) bool) (keys []cachekey.Key) {
	for i := range m.shards {
		s := &m.shards[i]
		var removed []*node[V]
		s.mu.Lock()
		for _, n := range s.nodes {
			if match(&n.Item) {
				removed = append(removed, n)
			}
		}
		for _, n := range removed {
			s.remove(n)
		}
		s.mu.Unlock()
		for _, n := range removed {
			m.report(n, Deleted)
			keys = append(keys, n.Key)
		}
	}
	return keys
}

// Len returns the number of values and their size in bytes. Expired values count until they are
// removed.
func (m *Map[V]) Len() (entries, bytes int64) {
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		entries, bytes = entries+int64(len(s.nodes)), bytes+s.bytes
		s.mu.Unlock()
	}
	return entries, bytes
}

func (m *Map[V]) report(n *node[V], c Cause) {
	if m.o.Removed != nil {
		m.o.Removed(n.Item, c)
	}
}

// evict removes the oldest values until the shard is within its limits, and returns them as a list.
func (s *shard[V]) evict(maxBytes int64, maxEntries int) (removed *node[V]) {
	for s.bytes > maxBytes || len(s.nodes) > maxEntries {
		n := s.root.prev
		s.remove(n)
		n.next = removed
		removed = n
	}
	return removed
}

func (s *shard[V]) remove(n *node[V]) {
	s.unlink(n)
	delete(s.nodes, n.Key)
	s.bytes -= n.Size
}

func (s *shard[V]) unlink(n *node[V]) {
	n.prev.next, n.next.prev = n.next, n.prev
	n.prev, n.next = nil, nil
}

// link makes n the newest value.
func (s *shard[V]) link(n *node[V]) {
	n.prev, n.next = &s.root, s.root.next
	n.prev.next, n.next.prev = n, n
}
