package app

import (
	"context"
	"fmt"
	"time"

	"sluice/internal/cluster/redis"
	"sluice/internal/config"
	"sluice/internal/fault"
	"sluice/internal/limits/ratefile"
	"sluice/internal/quota"
	"sluice/internal/resource"
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
		Node: a.journal.ID(), Server: redisServer(a.set.Redis), Local: local, Meters: a.meter, Alone: a.set.Redis.Without == "local",
		Metrics: metrics, Logger: a.log,
	})
	if err != nil {
		return fmt.Errorf("prepare cluster limits: %w", err)
	}
	a.limits = a.shared
	a.metrics.Register(metrics.Collectors()...)
	return nil
}

func redisServer(r config.Redis) redis.Server {
	user, password := r.Login()
	return redis.Server{
		Addresses: r.Addresses(), Cluster: r.Mode == "cluster", Username: user, Password: password, Database: r.Database(),
		TLS: r.TLSConfig(), Timeout: r.Timeout,
	}
}

// meter reads the usage of a budget from the writer, because a replica may lag. While the writer
// is down nothing is stored, so a reader has all there is.
func (a *App) meter(ctx context.Context, id quota.CounterID) (m quota.Meter, found bool, err error) {
	q := quota.MeterQuery{SubjectID: id.Subject, Entries: []string{id.Entry}, Limit: 1}
	if id.ValueKey != "" {
		q.Entries[0] = quota.EntryOf(id.ValueKey)
	}
	var list []quota.Meter
	err = a.store.InTx(ctx, func(tx resource.Tx) (err error) {
		list, err = a.store.Meters(ctx, tx, q)
		return err
	})
	if fault.Has(err, fault.ReadOnly) {
		list, err = a.store.Meters(ctx, nil, q)
	}
	if err != nil || len(list) == 0 {
		return quota.Meter{}, false, err
	}
	return list[0], true, nil
}
