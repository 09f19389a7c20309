// Package circuit pauses calls to a service that fails, so that callers do not wait for it. Start
// with Breaker. The circuit breakers of configs, which choose targets, are in domain/routing.
package circuit

import (
	"sync"
	"time"
)

// Policy is when a breaker opens, and for how long. All fields are required.
type Policy struct {
	Failures   int           // failures in a row that open the breaker, at least 1
	FirstPause time.Duration // without calls
	MaxPause   time.Duration // each pause is twice as long as the one before, up to MaxPause
}

// Breaker pauses the calls to one service after failures in a row. After each pause one call is
// permitted, and further calls wait for its result: success closes the breaker, failure starts the
// next pause. It is safe for concurrent use and holds no lock during a call. Set Policy before the
// first use, and do not copy a Breaker.
type Breaker struct {
	Policy Policy

	mu       sync.Mutex // guards the rest
	failures int        // in a row
	pause    time.Duration
	until    time.Time // end of the pause
	trying   bool      // a trial is in progress
}

// Permit is the result of Acquire.
type Permit int

// The permits.
const (
	Denied  Permit = iota // do not make the call
	Allowed               // make the call
	Trial                 // make the call; it is the only one after a pause
)

// Outcome is the end of a call.
type Outcome int

// The outcomes.
const (
	Succeeded Outcome = iota // the service responded
	Failed                   // it did not
	Unknown                  // the call reveals nothing about the service, for example because its caller left
)

// Acquire reports whether a call may be made at a time. A call that is made must be followed by Record.
func (b *Breaker) Acquire(now time.Time) Permit {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.failures < b.Policy.Failures:
		return Allowed
	case b.trying || now.Before(b.until):
		return Denied
	}
	b.trying = true
	return Trial
}

// Record records the end of a call at a time. A call that began before a pause does not extend it.
// After a trial with an unknown outcome, the next call is a trial.
func (b *Breaker) Record(now time.Time, p Permit, o Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p == Trial {
		b.trying = false
	}
	switch o {
	case Succeeded:
		b.failures, b.pause = 0, 0
	case Failed:
		b.failures++
		if b.failures == b.Policy.Failures || p == Trial {
			b.pause = min(max(b.Policy.FirstPause, 2*b.pause), b.Policy.MaxPause)
			b.until = now.Add(b.pause)
		}
	case Unknown:
	}
}
