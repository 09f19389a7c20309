package app

import (
	"context"
	"errors"
	"time"

	"sluice/internal/admin"
	"sluice/internal/config"
	"sluice/internal/logstore"
	"sluice/internal/tenant"
)

// retain deletes expired logs, at the start and then once an hour. The first run deletes what
// expired while the program did not run. Most runs find nothing to do, because days end at
// midnight.
func (a *App) retain(ctx context.Context) error {
	return hourly(ctx, func() {
		if err := a.retainOnce(ctx); err != nil && !errors.Is(err, context.Canceled) {
			a.log.Error("cannot delete expired logs; retrying", "error", err.Error())
		}
	})
}

// hourly calls do at once and then each hour until ctx ends.
func hourly(ctx context.Context, do func()) error {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		do()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// retainOnce deletes what is expired now. While the settings of workspaces cannot be read, it
// still applies the limits of the deployment.
func (a *App) retainOnce(ctx context.Context) error {
	overrides, err := admin.LogRetention(ctx, a.store)
	return errors.Join(err, a.logs.Retain(ctx, retentionOf(a.clock.Now(), deploymentRetention(a.set.Logs), overrides)))
}

// deploymentRetention returns the retention of the settings.
func deploymentRetention(l config.Logs) tenant.Retention {
	days := func(n int) *int { return &n }
	r := tenant.Retention{Bodies: days(l.RetentionDays), Rows: days(l.MetricsRetentionDays), Metrics: days(l.MetricsRetentionDays)}
	if l.RowsRetentionDays > 0 {
		r.Rows = days(l.RowsRetentionDays)
	}
	return r
}

// retentionOf returns the cutoffs of retention: complete days in UTC, without the current day.
func retentionOf(now time.Time, deployment tenant.Retention, overrides map[string]tenant.Retention) (r logstore.Retention) {
	midnight := now.UTC().Truncate(24 * time.Hour)
	before := func(days *int) time.Time { return midnight.AddDate(0, 0, -*days) }
	all := deployment.Capped(deployment)
	r.Bodies, r.Rows, r.Metrics = due(before(all.Bodies)), due(before(all.Rows)), due(before(all.Metrics))
	for id, retention := range overrides {
		retention = retention.Capped(deployment)
		r.Bodies.Workspaces[id], r.Rows.Workspaces[id], r.Metrics.Workspaces[id] = before(retention.Bodies), before(retention.Rows), before(retention.Metrics)
	}
	return r
}

func due(before time.Time) logstore.RetentionCutoffs {
	return logstore.RetentionCutoffs{Before: before, Workspaces: map[string]time.Time{}}
}
