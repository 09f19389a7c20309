package redis

import (
	"sync"
	"time"

	"sluice/internal/quota"
)

// Requests that are taken ahead: of a rate of requests that is far from its limit a node
// takes some for its next calls, which then need not ask. The script counts them as used
// at once, so the limit is never passed; those that a node does not need until the window
// ends are lost to the others. It takes ahead at most one in 128 of what is left, so
// nothing below 128, and at most maxPrefetchTokens.
const maxPrefetchTokens = 64

// maxPrefetchCounters bounds the counters of which there is something ahead.
const maxPrefetchCounters = 4096

// prefetchedTokens are the requests that were taken ahead in one partition. Safe for concurrent use.
type prefetchedTokens struct {
	mu   sync.Mutex // guards what follows
	left map[quota.CounterID]slice
}

type slice struct {
	window time.Time // its beginning
	left   int64
}

func (s *slice) has(h *quota.Hold, now time.Time) bool {
	return s.left >= h.Amount && s.window.Equal(h.Unit.Begin(now))
}

// take takes a request of a rate, if one is ahead in the window of a time.
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

// has reports whether take would.
func (a *prefetchedTokens) has(h *quota.Hold, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.left[h.Counter]
	return s.has(h, now)
}

// put adds requests that were taken ahead in the window of a time.
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

// drop forgets all: what the node states of itself does not have them.
func (a *prefetchedTokens) drop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.left)
}
