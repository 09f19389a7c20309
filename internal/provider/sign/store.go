package sign

import "sync"

// maxTokenSources is the maximum number of cached token sources per scheme. (ours)
const maxTokenSources = 512

// store caches token sources by their inputs. When it is full, it evicts the oldest, whose next
// use then costs one fetch. It is safe for concurrent use.
type store[K comparable, V any] struct {
	mu    sync.Mutex // guards the following
	items map[K]V
	order []K // in the order of creation
}

// get returns the item of a key and creates it when it is missing. produce must not do I/O, but
// may take a while: it does not block calls for other keys. When several calls create the same
// item concurrently, all return the first that was ready.
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
