package store

import (
	"fmt"
	"sync"
)

// past is what a store remembers of queries until the feed moves on.
type past struct {
	tallies memory[tally] // counts
	marks   memory[mark]  // ends of pages
}

func newPast() *past {
	return &past{memory[tally]{of: make(map[string]tally)}, memory[mark]{of: make(map[string]mark)}}
}

// Limits of what is remembered. A query that names many ids is quickly answered anyway.
const (
	maxRemembered    = 1000
	maxRememberBytes = 4 << 10 // of a query
)

// memory remembers something of queries, by their text with their values. Safe for
// concurrent use.
type memory[T any] struct {
	mu sync.Mutex // guards of
	of map[string]T
}

// at is what is remembered of a query.
func (m *memory[T]) at(query string) (v T, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, known = m.of[query]
	return v, known
}

// keep remembers. When there is too much remembering begins anew.
func (m *memory[T]) keep(query string, v T) {
	if len(query) > maxRememberBytes {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.of) >= maxRemembered {
		clear(m.of)
	}
	m.of[query] = v
}

// String is the statement with its values, which no other statement has.
func (s statement) String() string { return fmt.Sprintf("%s %q", s.text, s.args) }
