package identity

import (
	"context"
	"slices"
	"time"

	"sluice/internal/kernel/fault"
)

// Limits of throttled attempts. All values are ours.
const (
	maxLanes   = 64 // networks that have a separate lane at the same time; further ones share one
	maxWaiting = 8  // waiting attempts of each priority in a lane
	laneRetry  = 2 * time.Second
	fairTurn   = 4 // every fourth turn goes to the low priority
)

// sharedLane is the lane of all networks above maxLanes.
const sharedLane = "shared"

// priority is the order in which the attempts of a lane run.
type priority int

const (
	highPriority priority = iota // logins without recent failures
	lowPriority
	priorities
)

// lane runs the throttled attempts of one network one at a time. It exists while at least one
// attempt runs. The mutex of its LoginThrottle guards it.
type lane struct {
	waiting [priorities][]chan struct{} // closed when the attempt may run
	turns   int
}

// next removes and returns the attempt that runs next, or nil when no attempt waits. Logins
// without recent failures go first. Every fourth turn goes to the others, so that many logins
// of the first sort cannot block the second.
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

// remove deletes an attempt from the lane. It returns false when the attempt already has its
// turn.
func (l *lane) remove(p priority, turn chan struct{}) bool {
	i := slices.Index(l.waiting[p], turn)
	if i >= 0 {
		l.waiting[p] = slices.Delete(l.waiting[p], i, i+1)
	}
	return i >= 0
}

// enter waits until the attempt may run in the lane of its network. leave ends the attempt and
// must be called once. The error is fault.RateLimited when too many attempts wait, otherwise
// the error of ctx.
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

// leave passes the turn to the next attempt of a lane, and deletes a lane without attempts.
func (p *LoginThrottle) leave(network string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if turn := p.lanes[network].next(); turn != nil {
		close(turn)
		return
	}
	delete(p.lanes, network)
}
