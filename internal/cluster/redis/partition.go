package redis

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"sluice/internal/background"
)

const (
	beat          = 500 * time.Millisecond // between signs of life
	firstRetry    = 50 * time.Millisecond
	lastRetry     = 250 * time.Millisecond
	missing       = time.Minute     // without a sign of life until a node is missing
	findDeadNodes = 2 * missing / 3 // between looks for missing nodes
)

// partition is what this node has to do with one slot of Redis.
type partition struct {
	limiter *Limiter
	number  int
	prefix  string // "sluice:{limits-3}:"
	roll    string

	queue      queue
	prefetched prefetchedTokens
	woken      chan struct{} // has one when there is something to say

	// The node's book and the queue are one thing with the epoch: who changes the former
	// holds mu for reading, who states all of it for writing.
	mu      sync.RWMutex
	epoch   string        // under which the node states its part; empty before the first time
	joined  bool          // and Redis took it
	known   bool          // it did so once: nothing there is of an earlier life
	err     error         // why it is not joined, once that was tried
	done    int64         // of the runs under the epoch, guarded by doneMu besides
	changed chan struct{} // closed when joined or err change
	doneMu  sync.Mutex
}

func (p *partition) init(b *Limiter, i int) {
	p.limiter, p.number, p.prefix = b, i, "sluice:{limits-"+strconv.Itoa(i)+"}:"
	p.roll, p.woken, p.changed = p.prefix+"roll", make(chan struct{}, 1), make(chan struct{})
}

// wake has what is in the queue said.
func (p *partition) wake() {
	select {
	case p.woken <- struct{}{}:
	default: // it is awake
	}
}

// failure is why the node is not on the roll.
func (p *partition) failure() error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.err
}

// errNotRegistered is that Redis does not know the node's part.
var errNotRegistered = errors.New("this node has to resend its counters")

// membership is the epoch, how many runs there were under it, and whether Redis knows it.
func (p *partition) membership() (epoch string, done int64, joined bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	p.doneMu.Lock()
	defer p.doneMu.Unlock()
	return p.epoch, p.done, p.joined
}

// ready waits until the node is on the roll; an error when it could not get there.
func (p *partition) ready(ctx context.Context) (epoch string, done int64, err error) {
	for {
		p.mu.RLock()
		err, changed := p.err, p.changed
		p.mu.RUnlock()
		epoch, done, joined := p.membership()
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

// received notes an answer; p.mu is held.
func (p *partition) received(a *scriptResult) {
	p.doneMu.Lock()
	p.done = max(p.done, a.run())
	p.doneMu.Unlock()
	p.limiter.serverClock.Store(&serverClock{a.serverTime(), time.Now()})
}

// resetMembership has the node state its part again: an answer did not come, or Redis does not know
// the epoch.
func (p *partition) resetMembership(epoch string, err error) {
	p.mu.Lock()
	again := p.joined && p.epoch == epoch
	if again {
		p.joined = false
	}
	p.mu.Unlock()
	if again {
		p.limiter.health.logFailure(p.number, err)
		p.wake()
	}
}

// set says how it stands with joining.
func (p *partition) set(joined bool, err error) {
	p.mu.Lock()
	p.joined, p.err, p.known = joined, err, p.known || joined
	close(p.changed)
	p.changed = make(chan struct{})
	p.mu.Unlock()
	if err != nil {
		p.limiter.health.logUnreachable(p.number, err)
	} else {
		p.limiter.health.logRestored(p.number)
	}
}

func (p *partition) isJoined() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.joined
}

// live states the node's part, says what changes, and shows that it lives, until ctx
// ends; then it says the last.
func (p *partition) live(ctx context.Context) error {
	lastCheck := time.Now()
	for p.joinWithRetry(ctx) {
		if err := p.publish(ctx); err == nil && p.isJoined() {
			if time.Since(lastCheck) > findDeadNodes {
				lastCheck = time.Now()
				p.findDeadNodes(ctx)
			}
			p.waitForWork(ctx)
		}
	}
	p.end(context.WithoutCancel(ctx))
	return nil
}

// end says the last, and takes the node off the roll when it has nothing left to say. For
// others who have to tell something first it waits as long as it does else.
func (p *partition) end(ctx context.Context) {
	for by := time.Now().Add(2 * maxUpdateWait); p.isJoined() && time.Now().Before(by); {
		if err := p.publish(ctx); err != nil {
			return
		}
		if p.queue.empty() {
			p.deregister(ctx)
			return
		}
		_ = background.Sleep(ctx, firstRetry) // ctx has no end
	}
}

// waitForWork waits until there is something to say, or it is time for a sign of life.
func (p *partition) waitForWork(ctx context.Context) {
	t := time.NewTimer(beat)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-p.woken:
	case <-t.C:
	}
}

// joinWithRetry joins until that works; false when ctx ended.
func (p *partition) joinWithRetry(ctx context.Context) bool {
	for retry := firstRetry; ctx.Err() == nil; retry = min(2*retry, lastRetry) {
		if p.isJoined() {
			return true
		}
		err := p.join(ctx)
		if ctx.Err() != nil {
			return false
		}
		p.set(err == nil, err)
		if err == nil {
			p.limiter.o.Metrics.stated.Inc()
			return true
		}
		_ = background.Sleep(ctx, retry) // it ends with ctx, which the loop sees
	}
	return false
}

// publish tells Redis everything in the queue, or that the node lives.
func (p *partition) publish(ctx context.Context) error {
	for first := true; first || !p.queue.empty(); first = false {
		waiting, err := p.publishBatch(ctx)
		if err != nil || waiting {
			return err
		}
	}
	return nil
}

// publishBatch tells Redis a batch; waiting says that others have to tell something first.
func (p *partition) publishBatch(ctx context.Context) (waiting bool, err error) {
	epoch, done, joined := p.membership()
	if !joined {
		return false, errNotRegistered // who waited here would wait for itself
	}
	moves, updates := p.queue.next()
	args := append(p.head(epoch, done, 1+5*len(moves)+5*len(updates)), strconv.Itoa(len(moves)))
	for key, m := range moves {
		args = append(args, key.id, decimal(m.held), decimal(m.used), decimal(key.endMS), decimal(m.latest))
	}
	now := time.Now()
	for i := range updates {
		args = append(args, updates[i].args(now)...)
	}
	a, err := p.run(ctx, &p.limiter.scripts.settle, args)
	if err != nil || a.status != "done" {
		p.queue.addUpdates(updates) // the statement has what was stored
		p.resetMembership(epoch, err)
		return false, err
	}
	p.mu.RLock()
	p.received(&a)
	p.mu.RUnlock()
	left := make(map[int]bool, len(a.rest))
	for _, i := range a.rest[2:] {
		left[int(i)] = true
	}
	p.queue.again(updates, func(i int) bool { return left[i] })
	return len(left) > 0, nil
}

// args are the arguments for settle.lua.
func (t *storeUpdate) args(now time.Time) []string {
	mode := "f"
	switch {
	case t.amends && now.Sub(t.queuedAt) > 2*maxUpdateWait: // nobody tells any more what was before
		mode = "C"
	case t.amends && t.isSent:
		mode = "w"
	case t.amends:
		mode = "c"
	case t.resets:
		mode = "l"
	case now.Sub(t.queuedAt) > maxUpdateWait:
		mode = "F"
	}
	used, reset := "", ""
	if t.known {
		used, reset = decimal(t.used), decimal(t.reset)
	}
	return []string{t.id, decimal(t.stored), used, reset, mode}
}

// findDeadNodes looks for missing nodes.
func (p *partition) findDeadNodes(ctx context.Context) {
	a, err := p.run(ctx, &p.limiter.scripts.missing, append(p.head("", 0, 1), decimal(missing.Milliseconds())))
	if err == nil {
		p.limiter.o.Metrics.missing.WithLabelValues(strconv.Itoa(p.number)).Set(float64(a.rest[0]))
	}
}

// deregister takes the node off the roll.
func (p *partition) deregister(ctx context.Context) {
	epoch, _, _ := p.membership()
	if _, err := p.run(ctx, &p.limiter.scripts.deregister, p.head(epoch, 0, 0)); err != nil {
		p.limiter.o.Logger.Warn("limits: cannot deregister from redis; node counts as missing until it returns", "partition", p.number, "error", err.Error())
	}
}
