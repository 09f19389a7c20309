// Package boundedcache caches a bounded number of results in memory. Use it where callers send
// the same few values again and again, and an entry never changes.
package boundedcache

import "sync"

// Cache stores recent results by key. A full cache is cleared completely: that is rare, and
// cheaper than tracking an order. Safe for concurrent use. Create one with New.
type Cache[K comparable, V any] struct {
	maxEntries int

	mu      sync.RWMutex // guards entries
	entries map[K]V
}

// New creates a cache of at most maxEntries entries.
func New[K comparable, V any](maxEntries int) *Cache[K, V] {
	return &Cache[K, V]{maxEntries: maxEntries, entries: make(map[K]V)}
}

// Get returns the value that is cached under k.
func (c *Cache[K, V]) Get(k K) (v V, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	v, ok = c.entries[k]
	return v, ok
}

// Put caches v under k. Neither may refer to memory that is reused, such as that of a request.
func (c *Cache[K, V]) Put(k K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= c.maxEntries {
		clear(c.entries)
	}
	c.entries[k] = v
}

// Delete removes k.
func (c *Cache[K, V]) Delete(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, k)
}

// Len returns the number of cached entries.
func (c *Cache[K, V]) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.entries)
}
