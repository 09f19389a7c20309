package sqlstore

import (
	"fmt"
	"sync"
)

// queryCache caches results of queries until the feed grows.
type queryCache struct {
	tallies memo[tally]      // counts
	marks   memo[pageCursor] // ends of pages
}

func newPast() *queryCache {
	return &queryCache{memo[tally]{values: make(map[string]tally)}, memo[pageCursor]{values: make(map[string]pageCursor)}}
}

// Limits of the cache. A query that names many ids is fast anyway.
const (
	maxRemembered    = 1000
	maxRememberBytes = 4 << 10 // of a query
)

// memo caches a value per query, by the query's text with its values. It is safe for concurrent
// use.
type memo[T any] struct {
	mu     sync.Mutex // guards values
	values map[string]T
}

// find returns the cached value of a query.
func (m *memo[T]) find(query string) (v T, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, known = m.values[query]
	return v, known
}

// put caches a value. It clears a full cache first.
func (m *memo[T]) put(query string, v T) {
	if len(query) > maxRememberBytes {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.values) >= maxRemembered {
		clear(m.values)
	}
	m.values[query] = v
}

// String returns the statement with its values, which identifies it.
func (s statement) String() string { return fmt.Sprintf("%s %q", s.text, s.args) }
