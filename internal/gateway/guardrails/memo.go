package guardrails

import (
	"crypto/sha256"
	"sync"

	"sluice/internal/domain/guardrail"
)

// Memo keeps the results of the paid hooks of one call, by the body that they judged. It is safe for
// concurrent use.
type Memo struct {
	mu      sync.Mutex // guards entries
	entries map[memoKey]memoEntry
}

// memoKey names a hook by its phase, its version and the fingerprint of what a config decides about it: a
// config may give its own hook the id and the version of a saved guardrail.
type memoKey struct {
	phase    guardrail.Phase
	version  string
	enforced bool
	body     [sha256.Size]byte
}

type memoEntry struct {
	result  Result
	body    []byte // after the hook; nil if it changed nothing
	removed removed
}

func keyOf(h *Hook, p guardrail.Phase, body []byte) memoKey {
	return memoKey{p, h.version(), h.Enforced, sha256.Sum256(body)}
}

// find returns the result of a paid hook on a body that it judged before. It costs nothing.
func (m *Memo) find(k memoKey) (memoEntry, bool) {
	if m == nil {
		return memoEntry{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[k]
	e.result = e.result.clone()
	e.result.waive()
	return e, ok
}

// has reports whether find finds a result.
func (m *Memo) has(k memoKey) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.entries[k]
	return ok
}

func (m *Memo) put(k memoKey, e memoEntry) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries == nil {
		m.entries = make(map[memoKey]memoEntry)
	}
	e.result = e.result.clone()
	m.entries[k] = e
}
