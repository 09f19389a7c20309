package redis

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"sluice/internal/kernel/ident"
	"sluice/internal/limits/quota"
)

// errClash means that two processes use the data of one node.
var errClash = errors.New("another process joined as this node")

// errStaleEpoch means that Redis lost the epoch under which the node was about to report its
// share.
var errStaleEpoch = errors.New("redis lost the counters that this node was sending")

// maxJoinAttempts is how often the node reports its share in a row if Redis changes meanwhile:
// it lost all data just then, or another process uses the data of the node.
const maxJoinAttempts = 3

// join reports the share of the node.
func (p *partition) join(ctx context.Context) (err error) {
	for range maxJoinAttempts {
		if err = p.joinOnce(ctx); !errors.Is(err, errStaleEpoch) && !errors.Is(err, errClash) {
			break
		}
	}
	return err
}

// joinOnce reports the share of the node. It first claims a new epoch, so that delayed
// messages cannot change the share in Redis. Then it sends the new share in parts. Until a
// part is sent Redis uses the old value, so other nodes never find more left than there is,
// and every script is short whatever the size of the share.
func (p *partition) joinOnce(ctx context.Context) error {
	if err := p.redis.connect(); err != nil {
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
		p.queue.again(s.stored, func(int) bool { return true }) // the next statement includes it
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
	_, done, _ = p.snapshot()
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

// currentEpoch returns the epoch under which Redis knows the node; empty for none.
func (sl *slot) currentEpoch(ctx context.Context) (epoch string, err error) {
	err = sl.redis.ask(ctx, "found", func(ctx context.Context, c rueidis.Client) (err error) {
		epoch, err = c.Do(ctx, c.B().Hget().Key(sl.roll).Field("e:"+sl.o.Node).Build()).ToString()
		if rueidis.IsRedisNil(err) {
			err = nil
		}
		return err
	})
	return epoch, err
}

// reportedBudgets returns the keys of budgets for which Redis has a share of the node, each
// once.
func (sl *slot) reportedBudgets(ctx context.Context) (ids []string, err error) {
	err = sl.redis.ask(ctx, "had", func(ctx context.Context, c rueidis.Client) error {
		fields, err := c.Do(ctx, c.B().Hkeys().Key(sl.prefix+"n:"+sl.o.Node).Build()).AsStrSlice()
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

// reread returns the stored values of budgets for which an earlier process of this node had a
// share, which was stored since. A node that has its own share need not read them.
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

// statement is the share of a node at one moment, and what it knows about the store.
type statement struct {
	parts  [][6]string // in the format of state.lua
	stored []storeUpdate
}

// statement returns the share of this node now, under a new epoch. Later changes are in the
// queue. Budgets that the node had before and no longer has are omitted.
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

// state sends a statement in parts. Store updates come before all shares, because the shares
// no longer contain what is stored. done is the number of the last run.
func (p *partition) state(ctx context.Context, s statement, done int64) error {
	epoch, _, _ := p.snapshot()
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
