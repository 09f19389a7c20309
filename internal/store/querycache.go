package store

import (
	"fmt"
	"sync"
)

// queryCache is what a store remembers of queries until the feed moves on.
type queryCache struct {
	tallies memo[tally]      // counts
	marks   memo[pageCursor] // ends of pages
}

func newPast() *queryCache {
	return &queryCache{memo[tally]{values: make(map[string]tally)}, memo[pageCursor]{values: make(map[string]pageCursor)}}
}

// Limits of what is remembered. A query that names many ids is quickly answered anyway.
const (
	maxRemembered    = 1000
	maxRememberBytes = 4 << 10 // of a query
)

// memo remembers something of queries, by their text with their values. Safe for
// concurrent use.
type memo[T any] struct {
	mu     sync.Mutex // guards of
	values map[string]T
}

// find is what is remembered of a query.
func (m *memo[T]) find(query string) (v T, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, known = m.values[query]
	return v, known
}

// put remembers. When there is too much remembering begins anew.
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

// String is the statement with its values, which no other statement has.
func (s statement) String() string { return fmt.Sprintf("%s %q", s.text, s.args) }
