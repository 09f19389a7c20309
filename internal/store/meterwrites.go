package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/quota"
	"sluice/internal/resource"
)

var errForeignTx = errors.New("the transaction does not belong to this store")

// AddMeter keeps a new meter. Conflict when its carrier has one of that entry.
func (s *Store) AddMeter(ctx context.Context, rtx resource.Tx, m quota.Meter) error {
	return s.changeMeters(ctx, rtx, "add a usage meter", m.ID, func(ctx context.Context, db bun.IDB) error {
		row, err := meterRowOf(m)
		if err != nil {
			return err
		}
		_, err = db.NewInsert().Model(&row).Exec(ctx)
		return err
	})
}

// SaveMeter writes a meter that Meters read in the same transaction. NotFound when it
// is gone. The feed tells of it when its usage or a reset is another one.
func (s *Store) SaveMeter(ctx context.Context, rtx resource.Tx, m quota.Meter) error {
	moved, err := s.changesUsage(ctx, rtx, m)
	if err != nil {
		return err
	}
	save := func(ctx context.Context, db bun.IDB) error {
		row, err := meterRowOf(m)
		if err != nil {
			return err
		}
		_, err = db.NewUpdate().Model(&row).WherePK().Exec(ctx)
		return err
	}
	if moved {
		return s.changeMeters(ctx, rtx, "save a usage meter", m.ID, save)
	}
	return s.onMeters(ctx, rtx, "save a usage meter", save)
}

// DropMeters forgets the meters of a carrier: in one workspace or, with an empty one,
// in all; those of the entries or, with none named, all.
func (s *Store) DropMeters(ctx context.Context, rtx resource.Tx, subjectID, workspaceID string, entries ...string) error {
	return s.changeMeters(ctx, rtx, "drop usage meters", subjectID, func(ctx context.Context, db bun.IDB) error {
		del := db.NewDelete().Table("usage_meters").Where("carrier_id = ?", subjectID)
		if workspaceID != "" {
			del = del.Where("workspace_id = ?", workspaceID)
		}
		if len(entries) > 0 {
			del = del.Where("entry IN (?)", bun.List(entries))
		}
		_, err := del.Exec(ctx)
		return err
	})
}

// RetuneMeters gives all meters of a policy, its head too, the limits of the head, and
// does to their flags what quota.Meter.Retune does: before are the limits until now.
func (s *Store) RetuneMeters(ctx context.Context, rtx resource.Tx, before, head quota.Meter) error {
	return s.onMeters(ctx, rtx, "adjust usage meters", func(ctx context.Context, db bun.IDB) error {
		up := db.NewUpdate().Table("usage_meters").Where("carrier_id = ?", head.ID).
			Set("limit_units = ?", head.Limit).Set("threshold_units = ?", head.Threshold)
		raised := head.Limit > before.Limit
		if raised {
			up = up.Set("exhausted = 0").Set("exhausted_alert = 0")
		}
		if raised || head.Threshold == 0 || head.Threshold > before.Threshold {
			up = up.Set("threshold_alert = 0")
		}
		_, err := up.Exec(ctx)
		return err
	})
}

// ResetMeters lets all meters of a policy begin anew as of a time, its head too, except
// those that did so since.
func (s *Store) ResetMeters(ctx context.Context, rtx resource.Tx, subjectID string, resetAt time.Time) error {
	return s.changeMeters(ctx, rtx, "reset usage meters", subjectID, func(ctx context.Context, db bun.IDB) error {
		_, err := resetTo(db.NewUpdate(), resetAt.UnixMilli()).Where("carrier_id = ?", subjectID).Exec(ctx)
		return err
	})
}

// changesUsage reports whether a meter differs from the stored one in what was used or when
// that begins anew.
func (s *Store) changesUsage(ctx context.Context, rtx resource.Tx, m quota.Meter) (bool, error) {
	var old []meterRow
	err := s.onMeters(ctx, rtx, "read a usage meter", func(ctx context.Context, db bun.IDB) error {
		return db.NewSelect().Model(&old).Column("used", "last_reset_ms", "next_reset_ms").
			Where("m.carrier_id = ?", m.ID).Where("m.entry = ?", m.BudgetKey).Scan(ctx)
	})
	if err != nil || len(old) == 0 {
		return false, err
	}
	return old[0].Used != m.Used || old[0].LastResetMS != msOrNever(m.LastReset) || old[0].NextResetMS != msOrNever(m.NextReset), nil
}

// changeMeters is onMeters for what nodes have to know: the feed tells that meters of
// the carrier changed.
func (s *Store) changeMeters(ctx context.Context, rtx resource.Tx, doing, subjectID string, f func(context.Context, bun.IDB) error) error {
	if err := s.onMeters(ctx, rtx, doing, f); err != nil {
		return err
	}
	t, err := unwrapTx(rtx)
	if err == nil {
		t.change(quota.MeterKind, subjectID, false)
	}
	return err
}

func (s *Store) onMeters(ctx context.Context, rtx resource.Tx, doing string, f func(context.Context, bun.IDB) error) error {
	t, err := unwrapTx(rtx)
	if err != nil {
		return err
	}
	return t.step(ctx, doing, f)
}

// AddUsage adds what was used, all of it or, with an error, none. Any number of nodes
// may do it at once. Usage of a budget that is gone is dropped; a policy gets a counter
// for each value key that it meets first. What usage reaches is noticed by who asks
// for it with MeterQuery.Reached. The call is not idempotent: with ReadOnly or an error
// of the connection it is not known whether it was kept, so who must count exactly once
// uses AddUsageIn, in the transaction that also keeps how far it counted. The feed tells
// of it. Of AddUsageIn it tells only that usage was taken back, for a node that refuses what
// is used up stores nothing of it: all others read back when they flush.
func (s *Store) AddUsage(ctx context.Context, deltas []quota.Delta) error {
	return s.InTx(ctx, func(rtx resource.Tx) error {
		if err := s.AddUsageIn(ctx, rtx, time.Time{}, deltas); err != nil {
			return err
		}
		t, err := unwrapTx(rtx)
		for i := 0; i < len(deltas) && err == nil; i++ {
			t.change(quota.MeterKind, deltas[i].SubjectID, false)
		}
		return err
	})
}

// AddUsageIn is AddUsage within a transaction. now is the clock of who counts, by which a
// reset lies in the future that another clock brought about, which ran ahead: what is used
// until then counts. The zero time knows of no future.
func (s *Store) AddUsageIn(ctx context.Context, rtx resource.Tx, now time.Time, deltas []quota.Delta) error {
	return s.addUsage(ctx, rtx, now, usesOf(ordered(deltas)))
}

// addUsage is AddUsageIn of what goes to each meter, in their order, and notes what is known
// of them then.
func (s *Store) addUsage(ctx context.Context, rtx resource.Tx, now time.Time, uses []usageUpdate) error {
	t, err := unwrapTx(rtx)
	if err != nil {
		return err
	}
	return t.step(ctx, "add usage", func(ctx context.Context, db bun.IDB) error {
		if err := s.readResets(ctx, db, uses); err != nil {
			return err
		}
		if err := s.dropLate(ctx, db, uses, now); err != nil {
			return err
		}
		return s.addUses(ctx, t, uses)
	})
}

// usageBatch is how many meters get their usage in one message.
const usageBatch = 500

// usageRows is how many get it in one statement, where the database is a file: as many as
// a statement has that is kept prepared (maxStmtBytes).
const usageRows = 150

// addUses adds to each meter what goes to it: to those that are there in few messages, since
// the transaction holds them. One that is not there is that of a budget that is gone, or
// the counter of a policy that was not met before.
func (s *Store) addUses(ctx context.Context, t *tx, uses []usageUpdate) error {
	there := make([]*usageUpdate, 0, len(uses))
	reported := "" // carrier of which the feed tells
	for i := range uses {
		switch u := &uses[i]; {
		case u.Units == 0:
		case u.there:
			there = append(there, u)
			if u.used += u.Units; u.Units < 0 && u.SubjectID != reported {
				reported = u.SubjectID
				t.change(quota.MeterKind, reported, false)
			}
		case u.ValueKey != "":
			if err := s.firstUsage(ctx, t.db, &u.Delta); err != nil {
				return err
			}
		}
	}
	size := usageBatch
	if t.engine.local {
		size = usageRows
	}
	for batch := range slices.Chunk(there, size) {
		if err := t.all(ctx, plusUsages(batch, t.engine.local)...); err != nil {
			return err
		}
	}
	return nil
}

// plusUsages add to some meters. Where the database is a file a full batch is one
// statement, since each has its price; a server gets many in one message.
func plusUsages(list []*usageUpdate, local bool) (out []statement) {
	if local && len(list) == usageRows {
		all := statement{plusUsageRows, make([]any, 0, 3*len(list))}
		for i := range list {
			all.args = append(all.args, list[i].SubjectID, list[i].BudgetKey, list[i].Units)
		}
		return []statement{all}
	}
	for i := range list {
		out = append(out, statement{plusUsage, []any{list[i].Units, list[i].SubjectID, list[i].BudgetKey}})
	}
	return out
}

// ordered names the meter of each delta and puts them into the one order in which all
// writers lock.
func ordered(deltas []quota.Delta) []quota.Delta {
	list := slices.Clone(deltas)
	for i := range list {
		if list[i].BudgetKey == "" {
			list[i].BudgetKey = quota.EntryOf(list[i].ValueKey)
		}
	}
	byName := func(a, b quota.Delta) int {
		return cmp.Or(strings.Compare(a.SubjectID, b.SubjectID), strings.Compare(a.BudgetKey, b.BudgetKey))
	}
	if !slices.IsSortedFunc(list, byName) {
		slices.SortStableFunc(list, byName)
	}
	return list
}

// plusUsageRows is plusUsage of usageRows meters, in the words of SQLite.
var plusUsageRows = "UPDATE usage_meters SET used = used + v.column3 FROM (VALUES (?, ?, ?)" + strings.Repeat(", (?, ?, ?)", usageRows-1) +
	") AS v WHERE usage_meters.carrier_id = v.column1 AND usage_meters.entry = v.column2"

const (
	plusUsage = "UPDATE usage_meters SET used = used + ? WHERE carrier_id = ? AND entry = ?"
	// A new counter takes its limits from the head, so a policy that is gone gets none.
	newCounter = `INSERT INTO usage_meters (carrier_id, entry, carrier_kind, org_id, workspace_id, value_key, value_folded, used, limit_units, threshold_units,
exhausted, threshold_alert, exhausted_alert, last_reset_ms, next_reset_ms)
SELECT h.carrier_id, ?, h.carrier_kind, h.org_id, h.workspace_id, ?, ?, ?, h.limit_units, h.threshold_units, 0, 0, 0, 0, 0
FROM usage_meters AS h WHERE h.carrier_id = ? AND h.entry = '' `
)

// firstUsage makes the counter of a policy for a value key. Another node may have done so
// meanwhile.
func (s *Store) firstUsage(ctx context.Context, db bun.IDB, d *quota.Delta) error {
	row, err := meterRowOf(quota.Meter{Subject: quota.Subject{ID: d.SubjectID}, BudgetKey: d.BudgetKey, ValueKey: d.ValueKey})
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, newCounter+s.engine.onConflict("carrier_id, entry")+" used = usage_meters.used + ?",
		row.Entry, row.ValueKey, row.ValueFolded, d.Units, row.CarrierID, d.Units)
	return err
}
