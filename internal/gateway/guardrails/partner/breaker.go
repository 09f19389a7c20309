package partner

import (
	"sync"
	"time"

	"sluice/internal/kernel/circuit"
)

// Limits of the breakers.
const (
	breakerFailures = 5                // consecutive failures that open a breaker
	breakerOpenTime = 30 * time.Second // after it, one call tries the service again
	breakerPatience = 2 * time.Second  // a timeout below it describes the guardrail, not the service
	maxBreakers     = 1024             // addresses; more have no breaker
)

// breakers stops calls to services that fail: one breaker for each scheme and host whose last call
// failed. It is safe for concurrent use. It holds no lock during a call.
type breakers struct {
	mu   sync.Mutex
	list map[string]*circuit.Breaker
}

// acquire reports whether a call may be sent. A permitted call must be followed by record.
func (b *breakers) acquire(address string, now time.Time) circuit.Permit {
	b.mu.Lock()
	defer b.mu.Unlock()
	if state := b.list[address]; state != nil {
		return state.Acquire(now)
	}
	return circuit.Allowed
}

// record records the end of a call.
func (b *breakers) record(address string, now time.Time, p circuit.Permit, o circuit.Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	state := b.list[address]
	switch {
	case o == circuit.Succeeded:
		delete(b.list, address)
	case state == nil && o == circuit.Failed:
		b.add(address, now, p)
	case state != nil:
		state.Record(now, p, o)
	}
}

// add adds a breaker with its first failure, unless there are too many.
func (b *breakers) add(address string, now time.Time, p circuit.Permit) {
	if len(b.list) >= maxBreakers {
		return
	}
	if b.list == nil {
		b.list = make(map[string]*circuit.Breaker)
	}
	state := &circuit.Breaker{Policy: circuit.Policy{Failures: breakerFailures, FirstPause: breakerOpenTime, MaxPause: breakerOpenTime}}
	state.Record(now, p, circuit.Failed)
	b.list[address] = state
}
