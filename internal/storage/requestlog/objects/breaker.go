package objects

import (
	"fmt"
	"sync"
	"time"

	"sluice/internal/kernel/ident"
)

// breaker blocks calls to an unavailable store. After a number of failures in a row it is open
// for a time. Then one call may try, and the others wait for its result.
// Source: contract/content-and-observability.md 3.4.
type breaker struct {
	threshold int
	backoff   time.Duration
	clock     ident.Clock

	mu       sync.Mutex // guards what follows
	failures int        // in a row
	until    time.Time  // open
	trying   bool
	last     error
}

// acquire rejects calls while the breaker is open.
func (b *breaker) acquire() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < b.threshold {
		return nil
	}
	if b.trying || b.clock.Now().Before(b.until) {
		return fmt.Errorf("requests paused until %s, after %d failures: %w", b.until.UTC().Format(time.RFC3339), b.failures, b.last)
	}
	b.trying = true
	return nil
}

// release records the result of a call that acquire admitted.
func (b *breaker) release(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
	if err == nil {
		b.failures, b.last = 0, nil
		return
	}
	b.failures, b.last = b.failures+1, err
	if b.failures >= b.threshold {
		b.until = b.clock.Now().Add(b.backoff)
	}
}

// abandon ends a call whose result reveals nothing about the store.
func (b *breaker) abandon() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
}

// open returns why calls are rejected; nil if they are not.
func (b *breaker) open() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < b.threshold {
		return nil
	}
	return b.last
}
