package sqlstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/limits/quota"
)

// dropLate removes usage that no longer counts: usage before the last reset of its meter, unless
// that reset is in the future by the time now. First it resets the meters that were due before
// some of the usage: the worker reaches them later, and must find the usage since then in them.
// The meters stay locked until the end of the transaction, so that none is reset meanwhile.
func (s *meterTable) dropLate(ctx context.Context, db bun.IDB, uses []usageUpdate, now time.Time) error {
	for i := range uses {
		u := &uses[i]
		for k := range u.deltas {
			if d := &u.deltas[k]; !d.UsedAt.IsZero() && u.due(d.UsedAt.UnixMilli()) {
				if err := s.renew(ctx, db, u.Delta, u.next); err != nil {
					return err
				}
				u.last, u.there, u.known = u.next, true, false
			}
		}
		isResetLater := !now.IsZero() && now.UnixMilli() < u.last
		u.Units = 0
		for k := range u.deltas {
			if d := &u.deltas[k]; isResetLater {
				u.Units += d.Units
			} else {
				u.Units += d.Since(u.last)
			}
		}
	}
	return nil
}

// renew resets the meter of a delta as of a time in ms. It creates a missing counter of a policy.
func (s *meterTable) renew(ctx context.Context, db bun.IDB, d quota.Delta, resetAt int64) error {
	if d.Units = 0; d.ValueKey != "" {
		if err := s.firstUsage(ctx, db, &d); err != nil {
			return err
		}
	}
	_, err := resetTo(db.NewUpdate(), resetAt).Where("carrier_id = ?", d.SubjectID).Where("entry = ?", d.BudgetKey).Exec(ctx)
	return err
}

// resetTo resets the meters that an update selects as of a time in ms, except those that were
// reset since.
func resetTo(up *bun.UpdateQuery, resetAt int64) *bun.UpdateQuery {
	return up.Table("usage_meters").Where("last_reset_ms < ?", resetAt).
		Set("used = 0").Set("exhausted = 0").Set("threshold_alert = 0").Set("exhausted_alert = 0").Set("last_reset_ms = ?", resetAt)
}
