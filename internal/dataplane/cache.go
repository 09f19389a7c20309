package dataplane

import "sync"

// cache stores recent results, because callers send the same few values with every request. A
// full cache is cleared completely: that is rare, and cheaper than tracking an order. Safe for
// concurrent use.
type cache[K comparable, V any] struct {
	maxEntries int // maximum number

	mu    sync.RWMutex // guards known
	known map[K]V
}

func newCache[K comparable, V any](maxEntries int) *cache[K, V] {
	return &cache[K, V]{maxEntries: maxEntries, known: make(map[K]V)}
}

func (c *cache[K, V]) get(k K) (v V, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	v, ok = c.known[k]
	return v, ok
}

// drop removes k.
func (c *cache[K, V]) drop(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, k)
}

// put stores v under k. Neither may refer to the memory of a request.
func (c *cache[K, V]) put(k K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= c.maxEntries {
		clear(c.known)
	}
	c.known[k] = v
}
