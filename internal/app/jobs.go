package app

import (
	"context"
	"time"

	"sluice/internal/domain/providerjob"
	"sluice/internal/limits/quota"
	"sluice/internal/storage/sqlstore"
)

// openJobs stores open jobs of providers. When a job is settled, it also updates the limits in
// memory.
type openJobs struct {
	*sqlstore.Store
	*counting
}

// AddJob implements providerjob.Store.
func (o openJobs) AddJob(ctx context.Context, j *providerjob.Job, node string, due time.Time) error {
	list := deltasOf(j.Opening())
	return o.charge(list, func() ([]quota.Meter, error) {
		return o.Store.AddJob(ctx, j, node, due, o.clock.Now(), list)
	})
}

// SettleJob implements providerjob.Store.
func (o openJobs) SettleJob(ctx context.Context, j *providerjob.Job, now time.Time, deltas []providerjob.Delta) error {
	list := deltasOf(deltas)
	return o.charge(list, func() ([]quota.Meter, error) { return o.Store.SettleJob(ctx, j.ID, now, list) })
}

// charge changes meters in the store and the limits in memory.
func (o openJobs) charge(list []quota.Delta, change func() ([]quota.Meter, error)) error {
	return o.limits.Sync(func() error {
		after, err := change()
		if err != nil || len(after) == 0 {
			return err
		}
		o.limits.MarkFlushed(nil, after)
		if o.shared != nil {
			o.shared.Corrected(list, after)
		}
		return nil
	})
}

func deltasOf(deltas []providerjob.Delta) []quota.Delta {
	list := make([]quota.Delta, len(deltas))
	for i := range deltas {
		d := &deltas[i]
		list[i] = quota.Delta{SubjectID: d.Subject, BudgetKey: d.Entry, ValueKey: d.ValueKey, Units: d.Units, UsedAt: d.ChargedAt}
	}
	return list
}

// openTracker creates the tracker of open jobs.
func (a *traffic) openTracker() *providerjob.Tracker {
	a.jobs = providerjob.New(openJobs{a.store, a.counting}, a.store, a.clock, a.log)
	a.metrics.Gauge("sluice_open_jobs", "Batches, fine-tuning jobs and videos of this deployment that providers have not finished; each counts with its maximum cost until then.", func() float64 { return float64(a.jobs.Len()) })
	return a.jobs
}

// followJobs tracks open jobs until ctx ends.
func (a *traffic) followJobs(ctx context.Context) error {
	return a.jobs.Run(ctx, a.gateway.ProviderJobs())
}
