package redis

import (
	"context"
	"errors"
	"strconv"
	"sync"
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

// partition connects this node to one slot of Redis.
type partition struct {
	limiter *Limiter
	number  int
	prefix  string // "sluice:{limits-3}:"
	roll    string

	queue      queue
	prefetched prefetchedTokens
	woken      chan struct{} // has an element when there is something to publish

	// mu makes the node's counters, the queue and the epoch consistent. A goroutine that
	// changes counters or queue holds mu for reading; one that states the complete share of the
	// node holds it for writing.
	mu      sync.RWMutex
	epoch   string        // under which the node states its share; empty before the first time
	joined  bool          // Redis has accepted the share of the epoch
	known   bool          // the node has joined before: Redis has no share of an earlier process
	err     error         // why the last attempt to join failed; nil before the first attempt
	done    int64         // number of the last script run under the epoch, also guarded by doneMu
	changed chan struct{} // closed when joined or err changes
	doneMu  sync.Mutex
}

func (p *partition) init(b *Limiter, i int) {
	p.limiter, p.number, p.prefix = b, i, "sluice:{limits-"+strconv.Itoa(i)+"}:"
	p.roll, p.woken, p.changed = p.prefix+"roll", make(chan struct{}, 1), make(chan struct{})
}

// wake requests that the queue is published.
func (p *partition) wake() {
	select {
	case p.woken <- struct{}{}:
	default: // a request is pending already
	}
}

// failure returns why the node is not on the roll of Redis. It returns nil if it is, and before
// the first attempt to join.
func (p *partition) failure() error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.err
}

// errNotRegistered reports that Redis does not have the share of this node.
var errNotRegistered = errors.New("this node has to resend its counters")

// membership returns the epoch, the number of the last script run under it, and whether Redis
// has accepted it.
func (p *partition) membership() (epoch string, done int64, joined bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	p.doneMu.Lock()
	defer p.doneMu.Unlock()
	return p.epoch, p.done, p.joined
}

// ready waits until the node is on the roll. It returns an error if joining failed or ctx ended.
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

// received records the run number and the server time of a response. The caller holds p.mu.
func (p *partition) received(a *scriptResult) {
	p.doneMu.Lock()
	p.done = max(p.done, a.run())
	p.doneMu.Unlock()
	p.limiter.serverClock.Store(&serverClock{a.serverTime(), time.Now()})
}

// resetMembership makes the node state its share again. It is called after a missing response
// (err), or when Redis does not have the epoch. It does nothing if the epoch has changed since.
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

// set records and logs the result of an attempt to join, and wakes the waiters of ready.
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
	epoch, done, joined := p.membership()
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

// findDeadNodes counts missing nodes for the metric. The script also drops what a missing node
// had of budgets that were reset since its last heartbeat.
func (p *partition) findDeadNodes(ctx context.Context) {
	a, err := p.run(ctx, &p.limiter.scripts.missing, append(p.head("", 0, 1), decimal(missing.Milliseconds())))
	if err == nil {
		p.limiter.o.Metrics.missing.WithLabelValues(strconv.Itoa(p.number)).Set(float64(a.rest[0]))
	}
}

// deregister removes the node from the roll.
func (p *partition) deregister(ctx context.Context) {
	epoch, _, _ := p.membership()
	if _, err := p.run(ctx, &p.limiter.scripts.deregister, p.head(epoch, 0, 0)); err != nil {
		p.limiter.o.Logger.Warn("limits: cannot deregister from redis; node counts as missing until it returns", "partition", p.number, "error", err.Error())
	}
}
