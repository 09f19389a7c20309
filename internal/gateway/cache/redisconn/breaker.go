package redisconn

import (
	"sync"
	"time"

	"sluice/internal/kernel/ident"
)

const (
	maxFailures = 3 // in a row, until the breaker opens
	firstPause  = time.Second
	maxPause    = 30 * time.Second
)

// breaker stops the use of a server that fails. It opens after three failures in a row, for a
// second and then for twice as long each time. After each pause, one operation is tried. It is safe
// for concurrent use.
type breaker struct {
	clock ident.Clock

	mu       sync.Mutex // guards the rest
	failures int        // in a row
	pause    time.Duration
	until    time.Time // of the pause
	trying   bool      // an operation was permitted after the pause
}

// allows reports whether an operation may run.
func (b *breaker) allows() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < maxFailures {
		return true
	}
	now := b.clock.Now()
	if now.Before(b.until) {
		return false
	}
	b.until, b.trying = now.Add(b.pause), true // others wait for the result of this one
	return true
}

func (b *breaker) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures, b.pause, b.trying = 0, 0, false
}

// failed counts a failure. Operations that began before the breaker opened do not extend the pause.
func (b *breaker) failed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures++
	if b.failures == maxFailures || b.trying {
		b.pause = min(max(firstPause, 2*b.pause), maxPause)
		b.until, b.trying = b.clock.Now().Add(b.pause), false
	}
}
