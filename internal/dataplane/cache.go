package dataplane

import "sync"

// cache keeps what was worked out lately, because callers ask for the same few things with
// every request. When it is full it forgets all: that is rare, and cheaper than keeping an
// order. Safe for concurrent use.
type cache[K comparable, V any] struct {
	maxEntries int // entries

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

// drop forgets k.
func (c *cache[K, V]) drop(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, k)
}

// put keeps v under k, neither of which may hold on to the text of a request.
func (c *cache[K, V]) put(k K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= c.maxEntries {
		clear(c.known)
	}
	c.known[k] = v
}
