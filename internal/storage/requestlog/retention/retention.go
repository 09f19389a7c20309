// Package retention deletes the logs whose retention has ended, in complete days of UTC.
package retention

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/requestlog"
)

// Job deletes expired logs.
type Job struct {
	Logs       Logs
	Deployment tenant.Retention // of workspaces without a setting, and the maximum of all
	// Overrides returns the retention of the workspaces that have a setting, by their ids.
	Overrides func(context.Context) (map[string]tenant.Retention, error)
	Clock     ident.Clock
	Log       *slog.Logger
}

// Logs deletes what is older than the cutoffs.
type Logs interface {
	Retain(ctx context.Context, r requestlog.Retention) error
}

// Run deletes expired logs at the start and then once an hour, until ctx ends. The first run
// deletes what expired while the program did not run. Most runs find nothing to do, because days
// end at midnight.
func (j Job) Run(ctx context.Context) error {
	return hourly(ctx, func() {
		if err := j.runOnce(ctx); err != nil && !errors.Is(err, context.Canceled) {
			j.Log.Error("cannot delete expired logs; retrying", "error", err.Error())
		}
	})
}

// runOnce deletes what is expired now. While the settings of workspaces cannot be read, it still
// applies the limits of the deployment.
func (j Job) runOnce(ctx context.Context) error {
	overrides, err := j.Overrides(ctx)
	return errors.Join(err, j.Logs.Retain(ctx, cutoffs(j.Clock.Now(), j.Deployment, overrides)))
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

// cutoffs returns the times before which logs are deleted: complete days in UTC, without the current day.
func cutoffs(now time.Time, deployment tenant.Retention, overrides map[string]tenant.Retention) (r requestlog.Retention) {
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

func due(before time.Time) requestlog.RetentionCutoffs {
	return requestlog.RetentionCutoffs{Before: before, Workspaces: map[string]time.Time{}}
}
