package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/background"
	"sluice/internal/fault"
	"sluice/internal/quota"
)

// Reserve takes all holds of a call, or none when one does not fit, as quota.Bank's Take
// does, over all nodes and in one round trip. Budgets of which nothing is taken and which
// are free or used up, and requests that were taken ahead, are answered from what the node
// knows. The error, a
// fault.Overloaded, is that limits cannot be asked, where calls are refused then.
func (b *Limiter) Reserve(ctx context.Context, now time.Time, holds []quota.Hold) (refused int, left int64, retry time.Time, err error) {
	if len(holds) == 0 {
		return -1, 0, time.Time{}, nil
	}
	p := b.partition(holds[0].Org)
	serverNow := b.now(now)
	var buf [8]int
	ask, refused, left, retry := p.takeLocal(serverNow, holds, buf[:0])
	if refused < 0 && len(ask) > 0 {
		if refused, left, retry, err = p.take(ctx, holds, ask); err != nil && b.o.Alone {
			refused, left, retry, err = p.reserveLocally(serverNow, holds, ask)
		}
	}
	if refused < 0 && err == nil {
		return -1, 0, time.Time{}, nil
	}
	b.local.Settle(serverNow, holds, nil) // what was answered here: nothing of it is held
	if err != nil {
		return -1, 0, time.Time{}, fault.New(fault.Overloaded, "cannot check the limits of this call, so it was not sent; retry shortly").
			WithRetry(time.Second).WithAgain(fault.AgainHelps).WithCause(err)
	}
	return refused, left, retry, nil
}

// Defers reports whether holds cannot be reserved without asking Redis, and fit by what the
// node knows: then they may wait for others of the same call, and all are asked in one
// round trip. What does not seem to fit is asked at once.
func (b *Limiter) Defers(now time.Time, holds []quota.Hold) bool {
	if len(holds) == 0 {
		return false
	}
	p := b.partition(holds[0].Org)
	if !p.isJoined() {
		return false
	}
	serverNow, asks := b.now(now), false
	for i := range holds {
		h := &holds[i]
		if s := b.local.State(serverNow, h); !h.Fits(s.Used, s.Held) {
			return false
		}
		if known := isCheckOnly(h) || h.Spent && p.prefetched.has(h, serverNow); !known {
			asks = true
		}
	}
	return asks
}

// isCheckOnly reports whether a hold only asks whether anything is left of a budget.
func isCheckOnly(h *quota.Hold) bool { return h.Unit == "" && h.Amount <= 0 }

// takeLocal takes what needs no asking, and appends the indexes of the rest to ask.
func (p *partition) takeLocal(serverNow time.Time, holds []quota.Hold, ask []int) (_ []int, refused int, left int64, retry time.Time) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for i := range holds {
		h := &holds[i]
		switch {
		case isCheckOnly(h):
			if no, left, retry := p.limiter.local.Take(serverNow, holds[i:i+1]); no >= 0 {
				if s := p.limiter.local.State(serverNow, h); s.Used >= h.Limit {
					return nil, i, left, retry
				}
				ask = append(ask, i) // what others held when they were last heard of may be free by now
			}
		case h.Spent && p.prefetched.take(h, serverNow):
			p.limiter.local.TakeUnchecked(serverNow, holds[i:i+1], nil)
		default:
			ask = append(ask, i)
		}
	}
	return ask, -1, 0, time.Time{}
}

// reserveLocally takes what this node alone knows to be left.
func (p *partition) reserveLocally(serverNow time.Time, holds []quota.Hold, ask []int) (refused int, left int64, retry time.Time, err error) {
	queried := pick(holds, ask)
	p.mu.RLock()
	defer p.mu.RUnlock()
	if refused, left, retry = p.limiter.local.Take(serverNow, queried); refused >= 0 {
		return ask[refused], left, retry, nil
	}
	for i := range queried {
		p.queue.move([]quota.NodeShare{p.limiter.local.Taken(&queried[i])})
	}
	put(holds, ask, queried)
	return -1, 0, time.Time{}, nil
}

// errSlow is that too many epochs went by while a call was taken.
var errSlow = errors.New("this node resends its counters repeatedly")

// maxTries is how often a call asks again because the node stated its part meanwhile, or
// a budget had to be read from the store first.
const maxTries = 8

// take asks Redis.
func (p *partition) take(ctx context.Context, holds []quota.Hold, ask []int) (refused int, left int64, retry time.Time, err error) {
	b := p.limiter
	ctx, stop := context.WithTimeout(ctx, b.o.Server.Timeout+b.o.Grace)
	defer stop()
	queried := pick(holds, ask)
	for range maxTries {
		epoch, done, err := p.ready(ctx)
		if err != nil {
			return -1, 0, time.Time{}, err
		}
		a, err := p.run(ctx, &b.scripts.take, p.takeArgs(epoch, done, queried))
		if err != nil {
			p.resetMembership(epoch, err)
			return -1, 0, time.Time{}, err
		}
		switch a.status {
		case "taken":
			if p.admit(epoch, &a, queried) {
				put(holds, ask, queried)
				return -1, 0, time.Time{}, nil
			}
		case "refused":
			i := int(a.rest[2])
			p.refuse(epoch, &a, queried[:i])
			return ask[i], a.rest[3], timeOf(a.rest[4]), nil
		case "absent":
			err = p.seedBudgets(ctx, epoch, done, queried, a.rest)
		case "wait":
			err = background.Sleep(ctx, time.Duration(a.rest[0])*time.Millisecond)
		default:
			p.resetMembership(epoch, nil)
		}
		if err != nil {
			return -1, 0, time.Time{}, err
		}
	}
	return -1, 0, time.Time{}, errSlow
}

// takeArgs are the arguments of take.lua.
func (p *partition) takeArgs(epoch string, done int64, holds []quota.Hold) []string {
	args := append(p.head(epoch, done, 1+7*len(holds)), decimal(max(p.limiter.o.Grace, 0).Milliseconds()))
	for i := range holds {
		h := &holds[i]
		kind, how, span, more := "b", "", msOf(p.limiter.local.Due(h)), "0"
		if h.Unit != "" {
			kind, span = "r", h.Unit.Window().Milliseconds()
		}
		switch {
		case h.Spent:
			how, more = "p", decimal(maxPrefetchTokens)
		case h.Soft:
			how = "s"
		case h.Rest:
			how = "r"
		}
		args = append(args, kind, name(h.Counter), decimal(clamp(max(h.Amount, 0))), decimal(h.Limit), how, decimal(span), more)
	}
	return args
}

// admit writes what was taken into the node's own book; false when the node stated its
// part since, without it: then it is not taken.
func (p *partition) admit(epoch string, a *scriptResult, holds []quota.Hold) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.epoch != epoch {
		return false
	}
	p.received(a)
	found := make([]quota.ClusterTotal, len(holds))
	for i := range holds {
		values := a.rest[2+3*i:]
		found[i] = quota.ClusterTotal{Used: values[0], Held: values[1]}
		if h := &holds[i]; h.Rest {
			h.Amount = values[2]
		} else {
			p.prefetched.put(h, a.serverTime(), values[2])
		}
	}
	p.limiter.local.TakeUnchecked(a.serverTime(), holds, found)
	return true
}

// refuse counts the requests before a hold that did not fit.
func (p *partition) refuse(epoch string, a *scriptResult, before []quota.Hold) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.epoch == epoch {
		p.received(a)
		p.limiter.local.CountRejected(a.serverTime(), before)
	}
}

// seedBudgets makes the budgets that Redis does not have, from what the store says now: absent has
// two for each, its index and as what it was missed. Calls that miss it as the same ask once;
// what another one was told since it asked is no answer.
func (p *partition) seedBudgets(ctx context.Context, epoch string, done int64, holds []quota.Hold, absent []int64) error {
	args := p.head(epoch, done, 2*len(absent))
	for ; len(absent) >= 2; absent = absent[2:] {
		id, missed := holds[absent[0]].Counter, decimal(absent[1])
		m, err, _ := p.limiter.raising.Do(epoch+"|"+missed+"|"+name(id), func() (any, error) {
			m, _, err := p.limiter.meter(ctx, id) // without one nothing was used
			return m, err
		})
		if err != nil {
			return err
		}
		meter, _ := m.(quota.Meter)
		args = append(args, budgetID(id), decimal(meter.Used), decimal(msOf(meter.LastReset)), missed)
	}
	_, err := p.run(ctx, &p.limiter.scripts.create, args)
	return err
}

// meterPatience bounds a question to the store.
const meterPatience = 5 * time.Second

// meter is what the store says of a budget; false when it does not know it.
func (b *Limiter) meter(ctx context.Context, id quota.CounterID) (quota.Meter, bool, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), meterPatience)
	defer stop()
	m, ok, err := b.o.Meters(ctx, id)
	if err != nil {
		err = fmt.Errorf("read budget usage: %w", err)
	}
	return m, ok, err
}

// pick copies the holds at some indexes, and put brings them back.
func pick(holds []quota.Hold, serverNow []int) []quota.Hold {
	out := make([]quota.Hold, len(serverNow))
	for k, i := range serverNow {
		out[k] = holds[i]
	}
	return out
}

func put(holds []quota.Hold, serverNow []int, picked []quota.Hold) {
	for k, i := range serverNow {
		holds[i] = picked[k]
	}
}

// msOf is a time in ms, 0 for never; timeOf reads it back.
func msOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func timeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
