package routing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// BreakerConfig is a cb_config. Source: contract/dataplane.md 4.5.
type BreakerConfig struct {
	FailureThreshold float64       // the circuit opens if there are more failures; at least 1
	Cooldown         time.Duration // how long it stays open; at least 30 s
	// FailureStatus are the statuses that count as failures. Nil means those above 500, and
	// 408, which the gateway uses for an upstream that did not respond in time.
	FailureStatus []int
	// FailurePercent opens the circuit if the percentage of failures among the latest requests
	// is above it, 0 to 100, once MinimumRequests were counted. Zero disables this rule.
	FailurePercent  float64
	MinimumRequests int
}

// failed reports whether an outcome counts against its target. A missing or incomplete
// response always does.
func (c *BreakerConfig) failed(out *Outcome) bool {
	switch broken := out.Err != nil && out.Status < 300; {
	case broken, out.UpstreamFailed, out.Garbled, out.Status == 0:
		return true
	case c.FailureStatus != nil:
		return slices.Contains(c.FailureStatus, out.Status)
	}
	return out.Status > 500 || out.Status == 408
}

// breaker is the circuit of one target.
type breaker struct {
	mu           sync.Mutex // guards the fields below
	failures     int
	successes    int
	latest       failureRate
	firstFailure time.Time // zero if there was none
	opened       time.Time // zero while closed
	closes       time.Time
}

// open reports whether the circuit is open. A circuit whose cooldown is over closes and starts
// counting from zero.
func (b *breaker) open(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isOpen(now)
}

func (b *breaker) isOpen(now time.Time) bool {
	if !b.opened.IsZero() && !now.Before(b.closes) {
		b.reset()
	}
	return !b.opened.IsZero()
}

func (b *breaker) reset() {
	b.failures, b.successes, b.latest = 0, 0, failureRate{}
	b.firstFailure, b.opened, b.closes = time.Time{}, time.Time{}, time.Time{}
}

// count records an outcome and opens the circuit if it was one failure too many. Failures
// count together within one cooldown of the first (ours), because old failures say nothing
// about the present. An outcome that arrives while the circuit is open is counted but does not
// extend the cooldown.
func (b *breaker) count(c *BreakerConfig, out *Outcome, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isOpen(now) && !b.firstFailure.IsZero() && now.Sub(b.firstFailure) > c.Cooldown {
		b.reset()
	}
	failed := c.failed(out)
	b.latest.add(failed, max(c.MinimumRequests, shareOf))
	if !failed {
		b.successes++
		return
	}
	b.failures++
	if b.firstFailure.IsZero() {
		b.firstFailure = now
	}
	if b.opened.IsZero() && b.tripped(c) {
		b.opened, b.closes = now, now.Add(c.Cooldown)
	}
}

func (b *breaker) tripped(c *BreakerConfig) bool {
	if float64(b.failures) > c.FailureThreshold {
		return true
	}
	return c.FailurePercent > 0 && b.failures+b.successes >= c.MinimumRequests && b.latest.above(c.FailurePercent)
}

// shareOf is the minimum number of requests that a failure rate covers, if there were as many
// (ours).
const shareOf = 100

// failureRate is the rate of failures among the latest requests. Old requests count less and
// less, so that a target that served a million calls and then fails is avoided as soon as one
// that served a hundred.
type failureRate struct{ failed, all int }

// add records an outcome. Between n and 2n of the latest outcomes count.
func (s *failureRate) add(failed bool, n int) {
	if s.all >= 2*n {
		s.failed, s.all = s.failed/2, s.all/2
	}
	s.all++
	if failed {
		s.failed++
	}
}

func (s *failureRate) above(percent float64) bool {
	return float64(s.failed)*100 > percent*float64(s.all)
}

// These are the states of a circuit.
const (
	StateClosed = "CLOSED"
	StateOpen   = "OPEN"
)

// BreakerState is the circuit of one target as shown by metrics and administration.
type BreakerState struct {
	Scope     string // as given to Walk
	Config    string // fingerprint of the document, "9f86d081884c7d65"
	Path      string // "config.targets[1]"
	ID        string
	State     string // StateClosed or StateOpen
	Failures  int
	Successes int
	OpenedAt  time.Time // zero while closed
	ClosesAt  time.Time // zero while closed
}

// Breakers lists the circuits of a scope that have counted something, sorted by scope, path,
// id and config. An empty scope means all.
func (e *Engine) Breakers(scope string) []BreakerState {
	var all []BreakerState
	now := e.clock.Now()
	e.states.each(func(k stateKey, st *state) {
		if scope != "" && k.scope != scope {
			return
		}
		if s, ok := st.breaker.state(now); ok {
			s.Scope, s.Config, s.Path, s.ID = k.scope, fmt.Sprintf("%016x", k.config), k.path, k.id
			all = append(all, s)
		}
	})
	slices.SortFunc(all, func(a, b BreakerState) int {
		return cmp.Or(strings.Compare(a.Scope, b.Scope), strings.Compare(a.Path, b.Path), strings.Compare(a.ID, b.ID), strings.Compare(a.Config, b.Config))
	})
	return all
}

// OpenBreakers lists the open circuits of all scopes for a metric with the labels scope and
// path. It returns one circuit for each scope and path, even if configs differ in id or text.
func (e *Engine) OpenBreakers() []BreakerState {
	open := slices.DeleteFunc(e.Breakers(""), func(s BreakerState) bool { return s.State != StateOpen })
	return slices.CompactFunc(open, func(a, b BreakerState) bool { return a.Scope == b.Scope && a.Path == b.Path })
}

// state describes the circuit. ok is false if it has counted nothing.
func (b *breaker) state(now time.Time) (s BreakerState, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s = BreakerState{State: StateClosed}
	if b.isOpen(now) {
		s.State = StateOpen
	}
	s.Failures, s.Successes, s.OpenedAt, s.ClosesAt = b.failures, b.successes, b.opened, b.closes
	return s, b.failures+b.successes > 0
}
