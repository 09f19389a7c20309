package live

import (
	"context"
	"fmt"
	"slices"

	"sluice/internal/quota"
	"sluice/internal/resource"
)

// LimitOptions says what becomes of limits. The zero value counts nothing: limits are in the
// snapshot, and nobody tells a bank what was used of them.
type LimitOptions struct {
	Limiter limiter // is told what the store knows
	Meters  meters

	NoBudgets  bool // budgets are switched off on this deployment
	NoPolicies bool // and policies
}

// limiter knows what was used of limits: *quota.Bank, *redis.Bank.
type limiter interface {
	Sync(f func() error) error
	Load(meters []quota.Meter)
	Replace(subjectID string, meters []quota.Meter)
}

// meters is what the store knows of usage; *store.Store is one.
type meters interface {
	// FreshMeters has all usage of which the bank was told that it was stored.
	FreshMeters(ctx context.Context, q quota.MeterQuery) ([]quota.Meter, error)
}

// Count sets what becomes of limits; it is called before Load.
func (d *Directory) Count(c LimitOptions) { d.counted = c }

// meterPage is how many meters are read at once.
const meterPage = 1000

// loadMeters tells the bank of all usage.
func (d *Directory) loadMeters(ctx context.Context) error {
	if d.counted.Limiter == nil {
		return nil
	}
	return d.counted.Limiter.Sync(func() error {
		return d.eachPage(ctx, quota.MeterQuery{}, d.counted.Limiter.Load)
	})
}

// renewMeters tells the bank of the usage of carriers whose meters changed otherwise than
// by usage.
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

// meteredCarriers are the carriers whose meters changed, each once.
func meteredCarriers(changes []resource.Change) (ids []string) {
	for _, c := range changes {
		if c.Kind == quota.MeterKind && !slices.Contains(ids, c.ID) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
