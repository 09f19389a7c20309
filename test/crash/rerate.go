package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// The factors of the price of input, in tenths: the input of a call stays cheaper than
// the difference between the bounds of two calls.
const (
	lowestRate  = 3
	highestRate = 15
)

// budgetsFollow is the longest that budgets may take to follow a re-rating, reading all of
// them and their trails included.
const budgetsFollow = 3 * time.Minute

// order is a price that is corrected while the gateway is under load.
type order struct {
	*campaign
	epoch  *epoch
	delay  time.Duration // since the load began
	tenths int64         // the new price of input; 0: the same order again, at the price of before
}

func (c *campaign) newOrder(e *epoch, m moment, r *rand.Rand) *order {
	o := &order{campaign: c, epoch: e, delay: m.order}
	if r.IntN(3) > 0 {
		o.tenths = drawRate(r)
	}
	return o
}

func drawRate(r *rand.Rand) int64 { return lowestRate + r.Int64N(highestRate-lowestRate+1) }

// run corrects the price and has the epoch billed again, unless the gateway is killed
// before. The error is an answer that a living gateway must not give.
func (o *order) run(ctx context.Context, dead <-chan struct{}) error {
	timer := time.NewTimer(o.delay)
	defer timer.Stop()
	select {
	case <-dead:
		return nil
	case <-timer.C:
	}
	o.tally.ordered++
	changed, err := 0, error(nil)
	if o.tenths > 0 {
		err = o.setRate(ctx, o.epoch, o.tenths)
	}
	if err == nil {
		changed, err = o.api.reRate(ctx, o.epoch.began)
	}
	if no := new(refusal); errors.As(err, &no) {
		return err
	}
	if err == nil {
		o.tally.finished++
		o.tally.changed += changed
		o.provider.reached(reRated)
	}
	return nil
}

// setRate has a token of input cost so many tenths of its price from now on.
func (c *campaign) setRate(ctx context.Context, e *epoch, tenths int64) error {
	c.rate = c.list.input * tenths / rateStep
	e.charge(c.rate)
	return c.api.adjust(ctx, tenths)
}

// rerateAll bills all of an epoch again, at a price that nobody doubts, and holds the books
// against it: then every call costs that, each was corrected once at the most by each
// re-rating, and a further one changes nothing.
func (c *campaign) rerateAll(ctx context.Context, e *epoch, r *rand.Rand) error {
	ctx, cancel := context.WithTimeout(ctx, budgetsFollow)
	defer cancel()
	if err := c.setRate(ctx, e, drawRate(r)); err != nil {
		return err
	}
	changed, err := c.api.reRate(ctx, e.began)
	if err != nil {
		return err
	}
	again, err := c.api.reRate(ctx, e.began)
	if err != nil {
		return err
	}
	if again != 0 {
		return fmt.Errorf("of %d calls that were corrected, %d were corrected again", changed, again)
	}
	c.tally.ordered, c.tally.finished, c.tally.changed = c.tally.ordered+2, c.tally.finished+2, c.tally.changed+changed
	e.billed()
	if err := c.agree(ctx, e); err != nil {
		return err
	}
	return c.checkChanges(ctx, e, r)
}

// agree waits until the books of an epoch are right: budgets follow a re-rating.
func (c *campaign) agree(ctx context.Context, e *epoch) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := c.check(ctx, []*epoch{e})
		if wrong := new(mismatch); err == nil || !errors.As(err, &wrong) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("behind a re-rating: %w", err)
		case <-ticker.C:
		}
	}
}

// trailsOfKey bounds the entries of a key whose corrections are read.
const trailsOfKey = 60

// checkChanges holds the corrections of some entries of an epoch against their costs.
func (c *campaign) checkChanges(ctx context.Context, e *epoch, r *rand.Rand) error {
	for _, k := range e.keys {
		b, err := c.api.books(ctx, k)
		if err != nil {
			return err
		}
		r.Shuffle(len(b.entries), func(i, j int) { b.entries[i], b.entries[j] = b.entries[j], b.entries[i] })
		for i := range b.entries[:min(trailsOfKey, len(b.entries))] {
			changes, err := c.api.changes(ctx, b.entries[i].id)
			if err != nil {
				return err
			}
			if wrong := judgeChanges(&b.entries[i], changes); wrong != "" {
				return &mismatch{epoch: e.number, key: k.id, what: []string{wrong}}
			}
		}
	}
	return nil
}
