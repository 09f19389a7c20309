package routing

import (
	"sync"
	"sync/atomic"
	"time"
)

// stateKey identifies a leaf or branch of a config.
type stateKey struct {
	scope, path, id string
	config          uint64
}

// state is what the engine stores about a leaf or branch.
type state struct {
	turn     atomic.Uint64 // branches: round robin
	inFlight atomic.Int64  // calls in flight
	latency  latency
	breaker  breaker // leaves
}

func (w *walk) leafKey(t *Target) stateKey { return stateKey{w.scope, t.Path, t.ID, w.config} }

// state returns the state of a node in this walk's scope and config.
func (w *walk) state(n *Node) *state {
	if n.Target != nil {
		return w.engine.state(w.leafKey(n.Target))
	}
	return w.engine.state(stateKey{w.scope, n.Path, "", w.config})
}

func (e *Engine) state(k stateKey) *state {
	if st, ok := e.states.get(k); ok {
		return st
	}
	return e.states.getOrPut(k, &state{})
}

// latency is a moving average of the time to the first byte.
type latency struct {
	mu     sync.Mutex // guards the fields below
	mean   float64    // seconds; 0 if unknown
	seen   time.Time  // of the newest sample
	asking time.Time  // when a call was last sent to measure; zero if there is none
}

// estimate returns the latency to compare, in seconds. A target without a recent measurement
// counts as fastest, so that it is tried, but only by one call at a time: until that call is
// done it counts as before.
func (l *latency) estimate(now time.Time) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch stale := now.Sub(l.seen) > latencyMemory; {
	case stale && now.Sub(l.asking) > latencyMemory:
		return -1
	case l.mean == 0:
		return latencyPenalty.Seconds() // the first response is pending
	}
	return l.mean
}

// claim records that a call was sent at now.
func (l *latency) claim(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.seen) > latencyMemory {
		l.asking = now
	}
}

// add adds a sample. Failures count as slow, because a refused connection is fast and would
// otherwise attract all traffic to a dead target.
func (l *latency) add(out *Outcome, now time.Time) {
	sample := out.Latency
	if !out.good() {
		sample = max(sample, latencyPenalty)
	}
	if sample <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := sample.Seconds()
	if l.mean == 0 || now.Sub(l.seen) > latencyMemory {
		l.mean = s
	} else {
		l.mean += latencyShare * (s - l.mean)
	}
	l.seen, l.asking = now, time.Time{}
}
