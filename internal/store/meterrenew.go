package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/quota"
)

// dropLate takes the units from what was used before the last reset of its meter, unless
// that is still to come by the clock of now, and first resets the meters whose reset came
// before something in the list was used: the worker comes to them later, and must find in
// them what was used since. The meters are held until the end of the transaction, so that
// none is reset meanwhile.
func (s *Store) dropLate(ctx context.Context, db bun.IDB, list []quota.Delta, known map[meterName]*resets, now time.Time) error {
	for i := range list {
		d := &list[i]
		if d.At.IsZero() {
			continue
		}
		if r := known[nameOf(d)]; r.due(d.At.UnixMilli()) {
			if err := s.renew(ctx, db, *d, r.next); err != nil {
				return err
			}
			r.last, r.there, r.row = r.next, true, nil
		}
	}
	for i := range list {
		d := &list[i]
		if last := known[nameOf(d)].last; now.IsZero() || now.UnixMilli() >= last {
			d.Units = d.Since(last)
		}
	}
	return nil
}

// meterName is the primary key of a meter.
type meterName struct{ carrier, entry string }

func nameOf(d *quota.Delta) meterName { return meterName{d.CarrierID, d.Entry} }

// resets are the last and the next reset of a meter in ms, 0 for never; next is that of
// the head of a policy.
type resets struct {
	last, next int64
	there      bool      // the meter has a row
	row        *meterRow // as it is in the transaction; nil when that has to be read
}

func (r *resets) due(at int64) bool { return r.next > 0 && at >= r.next && r.last < r.next }

// resetsOf reads the resets of the meters in an ordered list. A counter of a policy that is
// not there yet had none.
func (s *Store) resetsOf(ctx context.Context, db bun.IDB, list []quota.Delta) (map[meterName]*resets, error) {
	found, room := make(map[meterName]*resets, len(list)), make([]resets, len(list))
	var counters, heads []quota.Delta
	for i := range list {
		d := &list[i]
		if i > 0 && nameOf(d) == nameOf(&list[i-1]) {
			continue
		}
		found[nameOf(d)] = &room[i]
		if d.ValueKey != "" {
			counters, heads = append(counters, *d), append(heads, quota.Delta{CarrierID: d.CarrierID})
		}
	}
	rows, err := s.metersOf(ctx, db, list, s.engine.lock)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		*found[meterName{rows[i].CarrierID, rows[i].Entry}] = resets{rows[i].LastResetMS, rows[i].NextResetMS, true, &rows[i]}
	}
	if rows, err = s.metersOf(ctx, db, heads, ""); err != nil { // a reset of a policy only moves on
		return nil, err
	}
	next := make(map[string]int64, len(rows))
	for i := range rows {
		next[rows[i].CarrierID] = rows[i].NextResetMS
	}
	for i := range counters {
		found[nameOf(&counters[i])].next = next[counters[i].CarrierID]
	}
	return found, nil
}

// renew resets the meter of a delta as of a time in ms; the counter of a policy that is
// not there yet is made.
func (s *Store) renew(ctx context.Context, db bun.IDB, d quota.Delta, at int64) error {
	if d.Units = 0; d.ValueKey != "" {
		if err := s.firstUsage(ctx, db, &d); err != nil {
			return err
		}
	}
	_, err := resetTo(db.NewUpdate(), at).Where("carrier_id = ?", d.CarrierID).Where("entry = ?", d.Entry).Exec(ctx)
	return err
}

// resetTo lets the meters that an update selects begin anew as of a time in ms, except
// those that did so since.
func resetTo(up *bun.UpdateQuery, at int64) *bun.UpdateQuery {
	return up.Table("usage_meters").Where("last_reset_ms < ?", at).
		Set("used = 0").Set("exhausted = 0").Set("threshold_alert = 0").Set("exhausted_alert = 0").Set("last_reset_ms = ?", at)
}
