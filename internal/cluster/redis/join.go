package redis

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"sluice/internal/ident"
	"sluice/internal/quota"
)

// errClash is that two processes have the data of one node.
var errClash = errors.New("another process joined as this node")

// errStaleEpoch is that Redis forgot the epoch under which the node was about to state its part.
var errStaleEpoch = errors.New("redis lost the counters that this node was sending")

// maxJoinAttempts is how often the node states its part at once when Redis changes under its
// hands: it lost everything just then, or another process has the data of the node.
const maxJoinAttempts = 3

// join states what the node has.
func (p *partition) join(ctx context.Context) (err error) {
	for range maxJoinAttempts {
		if err = p.joinOnce(ctx); !errors.Is(err, errStaleEpoch) && !errors.Is(err, errClash) {
			break
		}
	}
	return err
}

// joinOnce states what the node has. It claims a new epoch first, so that nothing that is still
// on its way changes what Redis has of the node; then it says piece by piece what takes the
// place of that. Until a piece is said Redis goes by what it knew of it before, so others
// never find more left than there is, and no script is long however much a node has.
func (p *partition) joinOnce(ctx context.Context) error {
	if err := p.limiter.connect(); err != nil {
		return err
	}
	epoch, done, err := p.claim(ctx)
	if err != nil {
		return err
	}
	had, err := p.reportedBudgets(ctx)
	if err != nil {
		return err
	}
	stored, err := p.reread(ctx, had)
	if err != nil {
		return err
	}
	s := p.statement(epoch, had, stored)
	if err := p.state(ctx, s, done); err != nil {
		p.queue.again(s.stored, func(int) bool { return true }) // the next statement takes it along
		return err
	}
	p.queue.joined()
	return nil
}

// claim begins a new epoch, and returns the number of that run.
func (p *partition) claim(ctx context.Context) (epoch string, done int64, err error) {
	before, err := p.currentEpoch(ctx)
	if err != nil {
		return "", 0, err
	}
	_, done, _ = p.membership()
	epoch = ident.NewID()
	a, err := p.run(ctx, &p.limiter.scripts.claim, append(p.head(before, done, 1), epoch))
	if err == nil && a.status != "claimed" {
		err = errClash
	}
	if err != nil {
		return "", 0, err
	}
	return epoch, a.run(), nil
}

// currentEpoch is the epoch under which Redis knows the node; empty for none.
func (p *partition) currentEpoch(ctx context.Context) (epoch string, err error) {
	err = p.limiter.ask(ctx, "found", func(ctx context.Context, c rueidis.Client) (err error) {
		epoch, err = c.Do(ctx, c.B().Hget().Key(p.roll).Field("e:"+p.limiter.o.Node).Build()).ToString()
		if rueidis.IsRedisNil(err) {
			err = nil
		}
		return err
	})
	return epoch, err
}

// reportedBudgets are the keys of budgets of which Redis knows a part of the node, each once.
func (p *partition) reportedBudgets(ctx context.Context) (ids []string, err error) {
	err = p.limiter.ask(ctx, "had", func(ctx context.Context, c rueidis.Client) error {
		fields, err := c.Do(ctx, c.B().Hkeys().Key(p.prefix+"n:"+p.limiter.o.Node).Build()).AsStrSlice()
		for _, field := range fields { // "uc:carrier|entry|value key"
			if len(field) > 1 {
				ids = append(ids, field[1:])
			}
		}
		return err
	})
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// reread is what the store says of budgets of which an earlier life of this node had a
// part: it stored that since. A node that knows its own part need not ask.
func (p *partition) reread(ctx context.Context, had []string) (list []storeUpdate, err error) {
	p.mu.RLock()
	known := p.known
	p.mu.RUnlock()
	if known {
		return nil, nil
	}
	for _, key := range had {
		if len(key) < len(budgetPrefix) {
			continue
		}
		id, ok := nameOf(key[len(budgetPrefix):])
		if !ok {
			continue
		}
		m, stored, err := p.limiter.meter(ctx, id)
		if err != nil {
			return nil, err
		}
		if stored {
			list = append(list, storeUpdate{id: key, used: m.Used, reset: msOf(m.LastReset), known: true})
		}
	}
	return list, nil
}

// statement is what a node has at one moment, and what it knows of the store.
type statement struct {
	parts  [][6]string // as state.lua has them
	stored []storeUpdate
}

// statement is what the node's book has at this moment, under a new epoch. What changes from
// now on is in the queue. Of budgets that it had before and has no more there is nothing.
func (p *partition) statement(epoch string, had []string, stored []storeUpdate) statement {
	b := p.limiter
	p.mu.Lock()
	defer p.mu.Unlock()
	p.epoch = epoch
	p.prefetched.drop()
	s := statement{stored: append(stored, p.queue.restart()...)}
	b.local.Parts(b.now(time.Now()), func(part quota.NodeShare) {
		if b.partition(part.Org) != p {
			return
		}
		id, endMS := keyOf(&part)
		s.parts = append(s.parts, [6]string{id, decimal(clamp(part.Held)), decimal(clamp(part.Used)), decimal(endMS), decimal(msOf(part.Latest)), decimal(clamp(part.Early))})
	})
	has := make(map[string]bool, len(s.parts))
	for i := range s.parts {
		has[s.parts[i][0]] = true
	}
	for _, id := range had {
		if !has[id] {
			s.parts = append(s.parts, [6]string{id, "0", "0", "0", "0", "0"})
		}
	}
	return s
}

// state says a statement piece by piece, what is known of the store before all parts: what it
// has of this node is no more in these. done is the number of the last run.
func (p *partition) state(ctx context.Context, s statement, done int64) error {
	epoch, _, _ := p.membership()
	for first := true; first || len(s.parts)+len(s.stored) > 0; first = false {
		stored := s.stored[:min(len(s.stored), batch)]
		s.stored = s.stored[len(stored):]
		var parts [][6]string
		if len(s.stored) == 0 {
			parts = s.parts[:min(len(s.parts), batch)]
			s.parts = s.parts[len(parts):]
		}
		args := append(p.head(epoch, done, 1+3*len(stored)+6*len(parts)), strconv.Itoa(len(stored)))
		for i := range stored {
			args = append(args, stored[i].id, decimal(stored[i].used), decimal(stored[i].reset))
		}
		for i := range parts {
			args = append(args, parts[i][:]...)
		}
		a, err := p.run(ctx, &p.limiter.scripts.state, args)
		switch {
		case err != nil:
			return err
		case a.status != "stated":
			return errStaleEpoch
		}
		done = a.run()
		p.mu.RLock()
		p.received(&a)
		p.mu.RUnlock()
	}
	return nil
}
