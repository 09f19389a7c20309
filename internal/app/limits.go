package app

import (
	"context"
	"fmt"
	"time"

	"sluice/internal/app/options"
	"sluice/internal/cluster/redis"
	"sluice/internal/limits/ratefile"
	"sluice/internal/quota"
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

// openLimits creates the counters of limits: local to this node or, with Redis, shared by all
// nodes.
func (a *App) openLimits(context.Context) (err error) {
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
