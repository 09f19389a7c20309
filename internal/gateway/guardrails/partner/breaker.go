package partner

import (
	"sync"
	"time"
)

// Limits of the breakers.
const (
	breakerFailures = 5                // consecutive failures that open a breaker
	breakerOpenTime = 30 * time.Second // after it, one call tries the service again
	breakerPatience = 2 * time.Second  // a timeout below it describes the guardrail, not the service
	maxBreakers     = 1024             // addresses; more have no breaker
)

// breakers stops calls to services that fail: one breaker for each scheme and host. It is safe for
// concurrent use. It holds no lock during a call.
type breakers struct {
	mu   sync.Mutex
	list map[string]*breaker
}

// breaker is the state of one address.
type breaker struct {
	failures int       // consecutive
	opened   time.Time // zero while calls are permitted
	probing  bool      // a call tries the service
}

// outcome is the end of a call, for the breaker.
type outcome int

const (
	succeeded outcome = iota // the service responded
	failed                   // it did not
	unknown                  // the caller ended the call
)

// allow reports whether a call may be sent. A permitted call must be followed by record.
func (b *breakers) allow(address string, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	state := b.list[address]
	if state == nil || state.opened.IsZero() {
		return true
	}
	if state.probing || now.Sub(state.opened) < breakerOpenTime {
		return false
	}
	state.probing = true
	return true
}

// record records the end of a call.
func (b *breakers) record(address string, now time.Time, end outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	state := b.list[address]
	switch end {
	case succeeded:
		delete(b.list, address)
	case unknown:
		if state != nil {
			state.probing = false
		}
	case failed:
		if state == nil {
			if state = b.add(address); state == nil {
				return
			}
		}
		state.failures++
		state.probing = false
		if state.failures >= breakerFailures {
			state.opened = now
		}
	}
}

// add adds a breaker; nil if there are too many.
func (b *breakers) add(address string) *breaker {
	if len(b.list) >= maxBreakers {
		return nil
	}
	if b.list == nil {
		b.list = make(map[string]*breaker)
	}
	state := &breaker{}
	b.list[address] = state
	return state
}
