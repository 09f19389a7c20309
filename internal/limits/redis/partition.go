package redis

import (
	"context"
	"errors"
	"strconv"
	"time"

	"sluice/internal/kernel/background"
)

const (
	beat          = 500 * time.Millisecond // between heartbeats
	firstRetry    = 50 * time.Millisecond
	lastRetry     = 250 * time.Millisecond
	missing       = time.Minute     // without a heartbeat until a node counts as missing
	findDeadNodes = 2 * missing / 3 // between searches for missing nodes
)

// partition connects this node to one slot of Redis. It reserves and settles there what the calls of
// this node use. Its lock is that of its membership.
type partition struct {
	limiter *Limiter
	slot
	membership

	queue      queue
	prefetched prefetchedTokens
	woken      chan struct{} // has an element when there is something to publish
}

func (p *partition) init(b *Limiter, i int) {
	p.limiter, p.woken, p.changed = b, make(chan struct{}, 1), make(chan struct{})
	prefix := "sluice:{limits-" + strconv.Itoa(i) + "}:"
	p.slot = slot{o: &b.o, life: b.life, redis: &b.redis, scripts: b.scripts, number: i, prefix: prefix, roll: prefix + "roll"}
}

// wake requests that the queue is published.
func (p *partition) wake() {
	select {
	case p.woken <- struct{}{}:
	default: // a request is pending already
	}
}

// errNotRegistered reports that Redis does not have the share of this node.
var errNotRegistered = errors.New("this node has to resend its counters")

// received records the run number and the server time of a response. The caller holds p.mu.
func (p *partition) received(a *scriptResult) {
	p.recordRun(a.run())
	p.limiter.serverClock.Store(&serverClock{a.serverTime(), time.Now()})
}

// resetMembership makes the node state its share again. It is called after a missing response
// (err), or when Redis does not have the epoch. It does nothing if the epoch has changed since.
func (p *partition) resetMembership(epoch string, err error) {
	if p.invalidate(epoch) {
		p.limiter.health.logFailure(p.number, err)
		p.wake()
	}
}

// set records and logs the result of an attempt to join, and wakes the waiters of ready.
func (p *partition) set(joined bool, err error) {
	p.recordJoin(joined, err)
	if err != nil {
		p.limiter.health.logUnreachable(p.number, err)
	} else {
		p.limiter.health.logRestored(p.number)
	}
}

// live states the share of the node, publishes changes and sends heartbeats until ctx ends.
// Then it publishes the remaining changes and returns nil.
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

// end publishes the remaining changes, and removes the node from the roll when the queue is
// empty. Updates that must follow those of other nodes are retried for at most
// 2*maxUpdateWait.
func (p *partition) end(ctx context.Context) {
	for by := time.Now().Add(2 * maxUpdateWait); p.isJoined() && time.Now().Before(by); {
		if err := p.publish(ctx); err != nil {
			return
		}
		if p.queue.empty() {
			p.deregister(ctx)
			return
		}
		_ = background.Sleep(ctx, firstRetry) // ctx never ends
	}
}

// waitForWork waits until there is something to publish, a heartbeat is due, or ctx ends.
func (p *partition) waitForWork(ctx context.Context) {
	t := time.NewTimer(beat)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-p.woken:
	case <-t.C:
	}
}

// joinWithRetry retries join until it succeeds. It returns false if ctx ended.
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
		_ = background.Sleep(ctx, retry) // returns early when ctx ends, which the loop checks
	}
	return false
}

// publish sends everything in the queue to Redis, or a heartbeat if the queue is empty.
func (p *partition) publish(ctx context.Context) error {
	for first := true; first || !p.queue.empty(); first = false {
		waiting, err := p.publishBatch(ctx)
		if err != nil || waiting {
			return err
		}
	}
	return nil
}

// publishBatch sends one batch to Redis. waiting reports whether some updates must follow those
// of other nodes; they are in the queue again.
func (p *partition) publishBatch(ctx context.Context) (waiting bool, err error) {
	epoch, done, joined := p.snapshot()
	if !joined {
		return false, errNotRegistered // the goroutine that joins is this one: waiting would never end
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
		p.queue.addUpdates(updates) // the next statement includes them
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

// args returns the five arguments of an update for settle.lua.
func (t *storeUpdate) args(now time.Time) []string {
	mode := "f"
	switch {
	case t.amends && now.Sub(t.queuedAt) > 2*maxUpdateWait: // no node sends the previous value any more
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

// deregister removes the node from the roll.
func (p *partition) deregister(ctx context.Context) {
	epoch, _, _ := p.snapshot()
	if _, err := p.run(ctx, &p.limiter.scripts.deregister, p.head(epoch, 0, 0)); err != nil {
		p.limiter.o.Logger.Warn("limits: cannot deregister from redis; node counts as missing until it returns", "partition", p.number, "error", err.Error())
	}
}
