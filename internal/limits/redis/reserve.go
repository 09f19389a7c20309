package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/kernel/background"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
)

// Reserve takes all holds of a call, or none when one does not fit, as quota.Limiter.Take does,
// but over all nodes and normally in one round trip. The node decides locally about exhausted
// budgets, about free budgets of which nothing is taken, and about requests that it prefetched.
// The error is fault.Overloaded: the limits cannot be checked and Options.Alone is not set, so
// the call must not be sent.
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
	b.local.Settle(serverNow, holds, nil) // releases what was taken locally
	if err != nil {
		return -1, 0, time.Time{}, fault.New(fault.Overloaded, "cannot check the limits of this call, so it was not sent; retry shortly").
			WithRetry(time.Second).WithAgain(fault.AgainHelps).WithCause(err)
	}
	return refused, left, retry, nil
}

// Defers reports whether reserving holds needs Redis and the holds fit by the local counters. Such
// holds can wait for others of the same call, so that one round trip reserves all of them. Holds
// that do not seem to fit are checked at once.
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

// isCheckOnly reports whether a hold takes nothing and only checks that a budget is not used up.
func isCheckOnly(h *quota.Hold) bool { return h.Unit == "" && h.Amount <= 0 }

// takeLocal takes the holds that do not need Redis, and appends the indexes of the rest to ask.
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
				ask = append(ask, i) // other nodes may have released their holds since the last update
			}
		case h.Spent && p.prefetched.take(h, serverNow):
			p.limiter.local.TakeUnchecked(serverNow, holds[i:i+1], nil)
		default:
			ask = append(ask, i)
		}
	}
	return ask, -1, 0, time.Time{}
}

// reserveLocally takes the holds at the indexes ask from what this node counts as left. It is used
// when Redis is unreachable and Options.Alone is set.
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

// errSlow means that none of the attempts of take completed.
var errSlow = errors.New("this node resends its counters repeatedly")

// maxTries is the maximum number of attempts of take. An attempt is repeated when the node resent
// its counters meanwhile, when a budget had to be read from the store first, or when Redis required
// a pause.
const maxTries = 8

// take reserves in Redis the holds at the indexes ask.
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

// takeArgs returns the arguments of take.lua.
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

// admit adds what Redis reserved to the node's local counters. It returns false when the node has
// resent its counters since, without this reservation: then nothing is reserved.
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

// refuse counts the requests of the holds before the one that did not fit.
func (p *partition) refuse(epoch string, a *scriptResult, before []quota.Hold) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.epoch == epoch {
		p.received(a)
		p.limiter.local.CountRejected(a.serverTime(), before)
	}
}

// seedBudgets creates the budgets that are missing in Redis with their present usage in the store.
// absent has two values for each budget: the index of its hold, and its version when it was found
// missing. Concurrent calls that miss the same version share one read of the store. A read that
// began for another version is not reused.
func (p *partition) seedBudgets(ctx context.Context, epoch string, done int64, holds []quota.Hold, absent []int64) error {
	args := p.head(epoch, done, 2*len(absent))
	for ; len(absent) >= 2; absent = absent[2:] {
		id, missed := holds[absent[0]].Counter, decimal(absent[1])
		m, err, _ := p.limiter.raising.Do(epoch+"|"+missed+"|"+name(id), func() (any, error) {
			m, _, err := p.limiter.meter(ctx, id) // a budget without a meter has no usage
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

// meterPatience is the maximum duration of one read of a budget from the store.
const meterPatience = 5 * time.Second

// meter reads the usage of a budget from the store. It returns false when the store has no meter
// of it.
func (b *Limiter) meter(ctx context.Context, id quota.CounterID) (quota.Meter, bool, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), meterPatience)
	defer stop()
	m, ok, err := b.o.Meters(ctx, id)
	if err != nil {
		err = fmt.Errorf("read budget usage: %w", err)
	}
	return m, ok, err
}

// pick copies the holds at some indexes. put writes the copies back.
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

// msOf converts a time to Unix milliseconds; the zero time is 0. timeOf converts them back.
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
