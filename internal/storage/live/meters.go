package live

import (
	"context"
	"fmt"
	"slices"

	"sluice/internal/control/resource"
	"sluice/internal/limits/quota"
)

// LimitOptions configures limits. With the zero value nothing is counted: limits are in the
// snapshot, but no limiter gets their stored usage.
type LimitOptions struct {
	Limiter limiter // gets the stored usage
	Meters  meters

	NoBudgets  bool // budgets are disabled on this deployment
	NoPolicies bool // policies are disabled too
}

// limiter contains the usage of limits: *quota.Limiter, *redis.Limiter.
type limiter interface {
	Sync(f func() error) error
	Load(meters []quota.Meter)
	Replace(subjectID string, meters []quota.Meter)
}

// meters reads the stored usage; *sqlstore.Store implements it.
type meters interface {
	// FreshMeters returns all usage that the limiter knows to be stored.
	FreshMeters(ctx context.Context, q quota.MeterQuery) ([]quota.Meter, error)
}

// Count sets the options of limits. It must be called before Load.
func (d *Directory) Count(c LimitOptions) { d.counted = c }

// meterPage is how many meters are read at once.
const meterPage = 1000

// loadMeters passes all usage to the limiter.
func (d *Directory) loadMeters(ctx context.Context) error {
	if d.counted.Limiter == nil {
		return nil
	}
	return d.counted.Limiter.Sync(func() error {
		return d.eachPage(ctx, quota.MeterQuery{}, d.counted.Limiter.Load)
	})
}

// renewMeters passes to the limiter the usage of subjects whose meters changed other than by
// usage.
func (d *Directory) renewMeters(ctx context.Context, carriers []string) error {
	if d.counted.Limiter == nil {
		return nil
	}
	for _, id := range carriers {
		err := d.counted.Limiter.Sync(func() error {
			var all []quota.Meter
			err := d.eachPage(ctx, quota.MeterQuery{SubjectID: id}, func(some []quota.Meter) { all = append(all, some...) })
			if err == nil {
				d.counted.Limiter.Replace(id, all)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *Directory) eachPage(ctx context.Context, q quota.MeterQuery, f func([]quota.Meter)) error {
	q.Limit = meterPage
	for {
		list, err := d.counted.Meters.FreshMeters(ctx, q)
		if err != nil {
			return fmt.Errorf("read usage meters: %w", err)
		}
		f(list)
		if len(list) < q.Limit {
			return nil
		}
		q.After = &list[len(list)-1]
	}
}

// meteredCarriers returns the ids of subjects whose meters changed, each once.
func meteredCarriers(changes []resource.Change) (ids []string) {
	for _, c := range changes {
		if c.Kind == quota.MeterKind && !slices.Contains(ids, c.ID) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
