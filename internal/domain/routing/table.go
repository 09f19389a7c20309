package routing

import (
	"container/list"
	"hash/maphash"
	"sync"
)

// shards is the number of locks of a table, enough that two cores rarely contend.
const shards = 16

// table is a map of limited size that evicts the least recently used entry. The gateway's
// general cache library is not used here, because it may reject a new entry in favour of an
// old one, and a breaker must never be rejected.
type table[K comparable, V any] struct {
	seed   maphash.Seed
	shards [shards]shard[K, V]
}

type shard[K comparable, V any] struct {
	mu    sync.Mutex // guards the fields below
	limit int
	items map[K]*list.Element
	order list.List // of *entry[K, V], newest first
}

type entry[K comparable, V any] struct {
	key K
	val V
}

// newTable returns an empty table of at most limit entries, rounded up to a multiple of the
// number of shards.
func newTable[K comparable, V any](limit int) *table[K, V] {
	t := &table[K, V]{seed: maphash.MakeSeed()}
	for i := range t.shards {
		t.shards[i].limit = (limit + shards - 1) / shards
		t.shards[i].items = map[K]*list.Element{}
	}
	return t
}

func (t *table[K, V]) shard(k K) *shard[K, V] {
	return &t.shards[maphash.Comparable(t.seed, k)%shards]
}

// get returns the value of k and marks it as used.
func (t *table[K, V]) get(k K) (v V, ok bool) {
	s := t.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(k)
}

// getOrPut returns the value of k. It stores v first if there is none.
func (t *table[K, V]) getOrPut(k K, v V) V {
	s := t.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.find(k); ok {
		return old
	}
	s.add(k, v)
	return v
}

// put sets the value of k.
func (t *table[K, V]) put(k K, v V) {
	s := t.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if el, ok := s.items[k]; ok {
		el.Value.(*entry[K, V]).val = v
		s.order.MoveToFront(el)
		return
	}
	s.add(k, v)
}

// each calls f for every entry, holding one shard's lock at a time. f must not use the table.
func (t *table[K, V]) each(f func(K, V)) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		for el := s.order.Front(); el != nil; el = el.Next() {
			e := el.Value.(*entry[K, V])
			f(e.key, e.val)
		}
		s.mu.Unlock()
	}
}

// find is get with the lock held.
func (s *shard[K, V]) find(k K) (v V, ok bool) {
	el, ok := s.items[k]
	if !ok {
		return v, false
	}
	s.order.MoveToFront(el)
	return el.Value.(*entry[K, V]).val, true
}

// add inserts a new entry at the front and evicts the oldest if the limit is exceeded.
func (s *shard[K, V]) add(k K, v V) {
	s.items[k] = s.order.PushFront(&entry[K, V]{k, v})
	if len(s.items) > s.limit {
		oldest := s.order.Back()
		s.order.Remove(oldest)
		delete(s.items, oldest.Value.(*entry[K, V]).key)
	}
}
