package identity

import (
	"context"
	"slices"
	"time"

	"sluice/internal/fault"
)

// Limits of slow attempts. All are ours.
const (
	maxLanes   = 64 // networks that have a lane of their own at once; further ones share one
	maxWaiting = 8  // attempts of each priority that wait in a lane
	laneRetry  = 2 * time.Second
	fairTurn   = 4 // each fourth turn belongs to the low priority
)

// sharedLane is the lane of the networks that come after maxLanes others.
const sharedLane = "shared"

// priority is the order in which attempts of a lane get their turn.
type priority int

const (
	highPriority priority = iota // logins without recent failures
	lowPriority
	priorities
)

// A lane makes the slow attempts of one network one after the other. It exists while an
// attempt of it is made. The mutex of its Pace guards it.
type lane struct {
	waiting [priorities][]chan struct{} // closed when it is the attempt's turn
	turns   int
}

// next removes the attempt whose turn it is; nil when none waits. Logins without recent
// failures go first, but each fourth turn is one of the others, so that a flood of the
// former does not lock the latter out.
func (l *lane) next() chan struct{} {
	l.turns++
	order := [...]priority{highPriority, lowPriority}
	if l.turns%fairTurn == 0 {
		order = [...]priority{lowPriority, highPriority}
	}
	for _, p := range order {
		if q := l.waiting[p]; len(q) > 0 {
			l.waiting[p] = q[1:]
			return q[0]
		}
	}
	return nil
}

// remove takes an attempt out of the lane. It returns false when the attempt has its turn.
func (l *lane) remove(p priority, turn chan struct{}) bool {
	i := slices.Index(l.waiting[p], turn)
	if i >= 0 {
		l.waiting[p] = slices.Delete(l.waiting[p], i, i+1)
	}
	return i >= 0
}

// enter waits for the turn of an attempt in the lane of its network. Leave ends the
// attempt, and must be called once. The error is fault.RateLimited when too many wait, else
// that of ctx.
func (p *LoginThrottle) enter(ctx context.Context, network string, prio priority) (leave func(), err error) {
	p.mu.Lock()
	if p.lanes[network] == nil && len(p.lanes) >= maxLanes {
		network = sharedLane
	}
	leave = func() { p.leave(network) }
	l := p.lanes[network]
	if l == nil {
		p.lanes[network] = new(lane)
		p.mu.Unlock()
		return leave, nil
	}
	if len(l.waiting[prio]) >= maxWaiting {
		p.mu.Unlock()
		return nil, fault.New(fault.RateLimited, "too many logins from this address are waiting; try again in a few seconds").WithRetry(laneRetry)
	}
	turn := make(chan struct{})
	l.waiting[prio] = append(l.waiting[prio], turn)
	p.mu.Unlock()
	select {
	case <-turn:
		return leave, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	removed := l.remove(prio, turn)
	p.mu.Unlock()
	if !removed {
		leave()
	}
	return nil, ctx.Err()
}

// leave gives the turn to the next attempt of a lane, and deletes a lane without any.
func (p *LoginThrottle) leave(network string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if turn := p.lanes[network].next(); turn != nil {
		close(turn)
		return
	}
	delete(p.lanes, network)
}
