package redis

import (
	"context"
	"sync"
)

// membership is the state of this node in one slot of Redis: whether Redis has its share, and under
// which epoch.
type membership struct {
	// mu makes the node's counters, the queue and the epoch consistent. A goroutine that
	// changes counters or queue holds mu for reading; one that states the complete share of the
	// node holds it for writing.
	mu      sync.RWMutex
	epoch   string        // under which the node states its share; empty before the first time
	joined  bool          // Redis has accepted the share of the epoch
	known   bool          // the node has joined before: Redis has no share of an earlier process
	err     error         // why the last attempt to join failed; nil before the first attempt
	changed chan struct{} // closed when joined or err changes

	doneMu sync.Mutex // taken after mu, which also guards done
	done   int64      // number of the last script run under the epoch
}

// failure returns why the node is not on the roll of Redis. It returns nil if it is, and before
// the first attempt to join.
func (m *membership) failure() error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.err
}

func (m *membership) isJoined() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.joined
}

// snapshot returns the epoch, the number of the last script run under it, and whether Redis
// has accepted it.
func (m *membership) snapshot() (epoch string, done int64, joined bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	m.doneMu.Lock()
	defer m.doneMu.Unlock()
	return m.epoch, m.done, m.joined
}

// ready waits until the node is on the roll. It returns an error if joining failed or ctx ended.
func (m *membership) ready(ctx context.Context) (epoch string, done int64, err error) {
	for {
		m.mu.RLock()
		err, changed := m.err, m.changed
		m.mu.RUnlock()
		epoch, done, joined := m.snapshot()
		if joined || err != nil {
			return epoch, done, err
		}
		select {
		case <-ctx.Done():
			return "", 0, ctx.Err()
		case <-changed:
		}
	}
}

// recordRun records the number of a script run. The caller holds m.mu, for reading or for writing.
func (m *membership) recordRun(number int64) {
	m.doneMu.Lock()
	defer m.doneMu.Unlock()
	m.done = max(m.done, number)
}

// invalidate records that Redis may not have the share of an epoch any more. It returns false if
// that epoch has ended, or if Redis had not accepted it.
func (m *membership) invalidate(epoch string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.joined || m.epoch != epoch {
		return false
	}
	m.joined = false
	return true
}

// recordJoin records the result of an attempt to join, and wakes the waiters of ready.
func (m *membership) recordJoin(joined bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.joined, m.err, m.known = joined, err, m.known || joined
	close(m.changed)
	m.changed = make(chan struct{})
}
