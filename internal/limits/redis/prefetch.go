package redis

import (
	"sync"
	"time"

	"sluice/internal/limits/quota"
)

// maxPrefetchTokens is the maximum number of prefetched requests. If a rate of requests is far
// from its limit, a node takes some requests for its next calls, which then need no round
// trip. The script counts them as used at once, so the limit is never exceeded; those that a
// node does not use until the window ends are lost to the others. It prefetches at most one in
// 128 of what is left, so nothing below 128.
const maxPrefetchTokens = 64

// maxPrefetchCounters is the maximum number of counters with prefetched requests.
const maxPrefetchCounters = 4096

// prefetchedTokens contains the prefetched requests of one partition. It is safe for
// concurrent use.
type prefetchedTokens struct {
	mu   sync.Mutex // guards the fields below
	left map[quota.CounterID]slice
}

type slice struct {
	window time.Time // its beginning
	left   int64
}

func (s *slice) has(h *quota.Hold, now time.Time) bool {
	return s.left >= h.Amount && s.window.Equal(h.Unit.Begin(now))
}

// take takes a request of a rate, if one is prefetched in the window of a time.
func (a *prefetchedTokens) take(h *quota.Hold, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.left[h.Counter]
	if !s.has(h, now) {
		return false
	}
	s.left -= h.Amount
	a.left[h.Counter] = s
	return true
}

// has reports whether take would succeed.
func (a *prefetchedTokens) has(h *quota.Hold, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.left[h.Counter]
	return s.has(h, now)
}

// put adds requests that were prefetched in the window of a time.
func (a *prefetchedTokens) put(h *quota.Hold, now time.Time, n int64) {
	if n <= 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.left) >= maxPrefetchCounters {
		clear(a.left)
	}
	if a.left == nil {
		a.left = make(map[quota.CounterID]slice)
	}
	s, window := a.left[h.Counter], h.Unit.Begin(now)
	if !s.window.Equal(window) {
		s = slice{window: window}
	}
	s.left += n
	a.left[h.Counter] = s
}

// drop removes everything, because the share that the node reports does not include it.
func (a *prefetchedTokens) drop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.left)
}
