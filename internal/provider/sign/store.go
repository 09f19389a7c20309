package sign

import "sync"

// maxTokenSources bounds how many token sources are kept per scheme. (ours)
const maxTokenSources = 512

// store keeps token sources by what they were made from. When it is full the
// oldest goes: its next use costs one fetch, no more. It is safe for concurrent use.
type store[K comparable, V any] struct {
	mu    sync.Mutex // guards what follows
	items map[K]V
	order []K // as they were made
}

// get returns the item of a key and makes it when it is not there. The function must not
// do I/O, but may take a while: nobody waits for another's key. Of items that are made at
// once for one key, all get the first that was ready.
func (s *store[K, V]) get(key K, produce func() (V, error)) (V, error) {
	if v, ok := s.find(key); ok {
		return v, nil
	}
	v, err := produce()
	if err != nil {
		return v, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first, ok := s.items[key]; ok {
		return first, nil
	}
	if s.items == nil {
		s.items = make(map[K]V)
	}
	if len(s.order) == maxTokenSources {
		delete(s.items, s.order[0])
		s.order = s.order[1:]
	}
	s.items[key] = v
	s.order = append(s.order, key)
	return v, nil
}

func (s *store[K, V]) find(key K) (V, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.items[key]
	return v, ok
}
