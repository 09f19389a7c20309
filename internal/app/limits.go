package app

import (
	"context"
	"fmt"
	"time"

	"sluice/internal/cluster/redis"
	"sluice/internal/config"
	"sluice/internal/fault"
	"sluice/internal/quota"
	"sluice/internal/resource"
)

// limiter counts what is used of limits: *quota.Bank on one node, *redis.Bank over many. It is
// what the data plane takes from (Reserve to State) and what the store is brought into and
// follows (Sync to Owe), in one, because it has to be the same bank.
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

// openLimits makes the counters of limits: this node's own or, with Redis, those of all.
func (a *App) openLimits(context.Context) (err error) {
	local := quota.NewLimiter()
	a.limits = local
	if !a.set.Redis.Enabled() {
		a.rates = newRateStore(local, a.set.Data.Dir, a.clock, a.log)
		a.rates.restore()
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

// meter reads what was used of a budget from the writer: a replica may be behind. With the
// writer away nothing is stored, so what a reader has is all there is.
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
