package demo

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// store stores the newest objects by id, up to a number of objects and of bytes; the oldest are
// removed first. It is safe for concurrent use. Objects are values: find returns a copy.
type store[T any] struct {
	maxItems int
	maxBytes int64

	mu    sync.Mutex
	bytes int64
	order []string // oldest first
	items map[string]shelved[T]
}

type shelved[T any] struct {
	value T
	size  int64
}

func newStore[T any](maxEntries int, maxBytes int64) *store[T] {
	return &store[T]{maxItems: maxEntries, maxBytes: maxBytes, items: map[string]shelved[T]{}}
}

// put adds an object of that many bytes under a new id. It reports false for an object larger
// than the complete store, which it does not store.
func (s *store[T]) put(id string, v T, size int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if size > s.maxBytes {
		return false
	}
	for len(s.order) > 0 && (len(s.order) >= s.maxItems || s.bytes+size > s.maxBytes) {
		s.remove(s.order[0])
	}
	s.order = append(s.order, id)
	s.items[id] = shelved[T]{v, size}
	s.bytes += size
	return true
}

func (s *store[T]) find(id string) (T, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, ok := s.items[id]
	return it.value, ok
}

// named finds the object whose id is in the path; kind is its name in error messages, for example
// "File".
func (s *store[T]) named(r *http.Request, kind string) (T, error) {
	v, ok := s.find(r.PathValue("id"))
	if !ok {
		return v, missing(kind, r.PathValue("id"))
	}
	return v, nil
}

// change replaces an object with the result of f. f runs under the store's lock and must not use
// the store.
func (s *store[T]) change(id string, f func(T) T) (T, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, ok := s.items[id]
	if ok {
		it.value = f(it.value)
		s.items[id] = it
	}
	return it.value, ok
}

func (s *store[T]) drop(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.items[id]
	if ok {
		s.remove(id)
	}
	return ok
}

func (s *store[T]) remove(id string) {
	s.bytes -= s.items[id].size
	delete(s.items, id)
	s.order = slices.DeleteFunc(s.order, func(other string) bool { return other == id })
}

// page is a list response in OpenAI's form.
type page[T any] struct {
	Object  string  `json:"object"` // "list"
	Data    []T     `json:"data"`
	FirstID *string `json:"first_id"`
	LastID  *string `json:"last_id"`
	HasMore bool    `json:"has_more"`
}

// list returns the page that the query requests, newest first: after (an id) and limit (1 to 100,
// 20 if absent).
func (s *store[T]) list(r *http.Request) (page[T], error) {
	limit := 20
	if v := r.URL.Query().Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 100 {
			return page[T]{}, badParam("limit", "limit must be a number from 1 to 100.")
		}
		limit = n
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := slices.Clone(s.order)
	slices.Reverse(ids)
	ids = ids[slices.Index(ids, r.URL.Query().Get("after"))+1:]
	p := page[T]{Object: "list", Data: []T{}, HasMore: len(ids) > limit}
	for i, id := range ids[:min(limit, len(ids))] {
		if i == 0 {
			p.FirstID = &ids[i]
		}
		p.Data, p.LastID = append(p.Data, s.items[id].value), &ids[i]
	}
	return p, nil
}
