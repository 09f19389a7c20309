package placeholder

import (
	"bytes"
	"container/list"
	"context"
	"strings"
	"sync"
	"time"
)

// Bounds of Memory for a single caller, so that one caller does not displace the others.
const (
	maxPerCaller   = 1000 // entries
	maxCallerShare = 4    // a caller has at most a fourth of all bytes
)

// Memory is a Backend in the memory of the process: for one node, until it ends. When it is full, or a caller exceeds its share,
// the entries that were stored first are removed. Create one with NewMemory.
type Memory struct {
	maxBytes int
	now      func() time.Time

	mu      sync.Mutex
	size    int
	entries map[string]*memoryEntry
	order   *list.List // of *memoryEntry, the first stored at the front
	callers map[string]*memoryCaller
}

// memoryCaller contains the entries of a caller.
type memoryCaller struct {
	size  int
	order *list.List
}

// memoryEntry is a stored value.
type memoryEntry struct {
	key, caller       string
	value             []byte
	expires           time.Time
	inOrder, inCaller *list.Element
}

// memoryOverhead is about the size of an entry in bytes, in addition to its value.
const memoryOverhead = 400

func (e *memoryEntry) size() int { return len(e.value) + memoryOverhead }

// NewMemory returns a store of at most maxBytes bytes.
func NewMemory(maxBytes int, now func() time.Time) *Memory {
	return &Memory{
		maxBytes: maxBytes, now: now,
		entries: map[string]*memoryEntry{}, order: list.New(), callers: map[string]*memoryCaller{},
	}
}

// Get implements Backend.
func (m *Memory) Get(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[key]
	if e == nil {
		return nil, nil
	}
	if !m.now().Before(e.expires) {
		m.remove(e)
		return nil, nil
	}
	return e.value, nil
}

// Swap implements Backend.
func (m *Memory) Swap(_ context.Context, key string, old, value []byte, ttl time.Duration) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if present := m.entries[key]; present != nil {
		if !m.isExpired(present.inOrder) && !bytes.Equal(present.value, old) {
			return false, nil
		}
		m.remove(present)
	} else if old != nil {
		return false, nil
	}
	caller, _, _ := strings.Cut(key, "/")
	m.add(&memoryEntry{key: key, caller: caller, value: value, expires: m.now().Add(ttl)})
	c := m.callers[caller]
	for c.order.Len() > maxPerCaller || c.size > m.maxBytes/maxCallerShare {
		m.removeFront(c.order)
	}
	for m.order.Len() > 0 && (m.size > m.maxBytes || m.isExpired(m.order.Front())) {
		m.removeFront(m.order)
	}
	return true, nil
}

// Len returns the number of entries.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.entries)
}

func (m *Memory) isExpired(item *list.Element) bool {
	e, ok := item.Value.(*memoryEntry)
	return ok && !m.now().Before(e.expires)
}

func (m *Memory) removeFront(l *list.List) {
	if e, ok := l.Front().Value.(*memoryEntry); ok {
		m.remove(e)
	}
}

func (m *Memory) add(e *memoryEntry) {
	c := m.callers[e.caller]
	if c == nil {
		c = &memoryCaller{order: list.New()}
		m.callers[e.caller] = c
	}
	e.inOrder, e.inCaller = m.order.PushBack(e), c.order.PushBack(e)
	m.entries[e.key] = e
	m.size += e.size()
	c.size += e.size()
}

func (m *Memory) remove(e *memoryEntry) {
	m.order.Remove(e.inOrder)
	c := m.callers[e.caller]
	if c.order.Remove(e.inCaller); c.order.Len() == 0 {
		delete(m.callers, e.caller)
	}
	delete(m.entries, e.key)
	m.size -= e.size()
	c.size -= e.size()
}
