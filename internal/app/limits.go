package app

import (
	"context"
	"fmt"
	"time"

	"sluice/internal/app/options"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/ratefile"
	"sluice/internal/limits/redis"
	"sluice/internal/limits/spend"
)

// limiter counts usage against limits: a limiter of package quota on one node, of package redis
// on many. One interface contains what the data plane calls (Reserve to State) and what
// synchronises with the store (Sync to AddUnflushed), because both must use the same limiter.
type limiter interface {
	Reserve(ctx context.Context, now time.Time, holds []quota.Hold) (refused int, left int64, retry time.Time, err error)
	Defers(now time.Time, holds []quota.Hold) bool
	Settle(now time.Time, holds []quota.Hold, used []int64)
	State(now time.Time, h *quota.Hold) quota.State
	Sync(f func() error) error
	Load(meters []quota.Meter)
	Replace(subject string, meters []quota.Meter)
	MarkFlushed(deltas []quota.Delta, latest []quota.Meter)
	AddUnflushed(parts []quota.NodeShare)
}

// counting counts usage against limits.
type counting struct {
	*base
	*database
	*requestLog
	limits limiter
	shared *redis.Limiter // same as limits when nodes share them through Redis; else nil
	rates  *ratefile.File // stored rates of a node that does not use Redis; else nil
	spend  *spend.Consumer
}

// openLimits creates the counters of limits: local to this node or, with Redis, shared by all
// nodes.
func (a *counting) openLimits(context.Context) (err error) {
	local := quota.NewLimiter()
	a.limits = local
	if !a.set.Redis.Enabled() {
		a.rates = ratefile.New(local, a.set.Data.Dir, a.clock, a.log)
		a.rates.Restore()
		return nil
	}
	metrics := redis.NewMetrics()
	a.shared, err = redis.New(redis.Options{
		Node: a.journal.ID(), Server: options.Redis(a.set.Redis), Local: local, Meters: a.store.LatestMeter, Alone: a.set.Redis.Without == "local",
		Metrics: metrics, Logger: a.log,
	})
	if err != nil {
		return fmt.Errorf("prepare cluster limits: %w", err)
	}
	a.limits = a.shared
	a.metrics.Register(metrics.Collectors()...)
	return nil
}

// openLedger updates the meters in the store with the journal entries of earlier runs. Only then
// may the meters be loaded and traffic be served. While the database accepts no writes, the
// limiter records the usage instead, so that limits hold, and it is stored later.
func (a *counting) openLedger(ctx context.Context) error {
	o := spend.Options{
		Node: a.journal.ID(), Lines: a.lines, Journal: a.journal, Store: a.store, Limiter: a.limits, Clock: a.clock, Logger: a.log,
	}
	if a.shared != nil {
		o.Corrected = a.shared.Corrected
	}
	a.spend = spend.New(o)
	err := a.spend.Recover(ctx)
	if !fault.Has(err, fault.ReadOnly) {
		return err
	}
	a.log.Error("database is read-only; usage stays in the journal and counts against limits", "error", err.Error())
	return a.spend.Postpone(ctx)
}
