package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/control/resource"
	"sluice/internal/limits/quota"
)

var errForeignTx = errors.New("the transaction does not belong to this store")

// AddMeter stores a new meter. It returns Conflict when its subject already has a meter with
// the same BudgetKey.
func (s *meterTable) AddMeter(ctx context.Context, rtx resource.Tx, m quota.Meter) error {
	return s.changeMeters(ctx, rtx, "add a usage meter", m.ID, func(ctx context.Context, db bun.IDB) error {
		row, err := meterRowOf(m)
		if err != nil {
			return err
		}
		_, err = db.NewInsert().Model(&row).Exec(ctx)
		return err
	})
}

// SaveMeter writes a meter that Meters read in the same transaction. If the meter no longer
// exists, SaveMeter does nothing and returns nil. The change feed reports the meter when its
// usage or the time of a reset changed.
func (s *meterTable) SaveMeter(ctx context.Context, rtx resource.Tx, m quota.Meter) error {
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
	return runInTx(ctx, rtx, "save a usage meter", save)
}

// DropMeters deletes meters of a subject. An empty workspaceID selects all workspaces.
// entries are the BudgetKeys to delete; without entries it deletes all.
func (s *meterTable) DropMeters(ctx context.Context, rtx resource.Tx, subjectID, workspaceID string, entries ...string) error {
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

// RetuneMeters sets the limits of all meters of a policy, including its head, to those of
// head. It updates their flags as quota.Meter.SetLimits does. before holds the old limits.
func (s *meterTable) RetuneMeters(ctx context.Context, rtx resource.Tx, before, head quota.Meter) error {
	return runInTx(ctx, rtx, "adjust usage meters", func(ctx context.Context, db bun.IDB) error {
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

// ResetMeters resets all meters of a policy, including its head, as of resetAt. It skips
// meters that were reset at that time or later.
func (s *meterTable) ResetMeters(ctx context.Context, rtx resource.Tx, subjectID string, resetAt time.Time) error {
	return s.changeMeters(ctx, rtx, "reset usage meters", subjectID, func(ctx context.Context, db bun.IDB) error {
		_, err := resetTo(db.NewUpdate(), resetAt.UnixMilli()).Where("carrier_id = ?", subjectID).Exec(ctx)
		return err
	})
}

// changesUsage reports whether a meter differs from the stored one in its usage or its reset
// times. It is false for a meter that is not stored.
func (s *meterTable) changesUsage(ctx context.Context, rtx resource.Tx, m quota.Meter) (bool, error) {
	var old []meterRow
	err := runInTx(ctx, rtx, "read a usage meter", func(ctx context.Context, db bun.IDB) error {
		return db.NewSelect().Model(&old).Column("used", "last_reset_ms", "next_reset_ms").
			Where("m.carrier_id = ?", m.ID).Where("m.entry = ?", m.BudgetKey).Scan(ctx)
	})
	if err != nil || len(old) == 0 {
		return false, err
	}
	return old[0].Used != m.Used || old[0].LastResetMS != msOrNever(m.LastReset) || old[0].NextResetMS != msOrNever(m.NextReset), nil
}

// changeMeters is runInTx for changes that other nodes need: the change feed reports that
// meters of the subject changed.
func (s *meterTable) changeMeters(ctx context.Context, rtx resource.Tx, doing, subjectID string, f func(context.Context, bun.IDB) error) error {
	if err := runInTx(ctx, rtx, doing, f); err != nil {
		return err
	}
	t, err := unwrapTx(rtx)
	if err == nil {
		t.change(quota.MeterKind, subjectID, false)
	}
	return err
}

// runInTx runs one step of a transaction and names it in the error.
func runInTx(ctx context.Context, rtx resource.Tx, doing string, f func(context.Context, bun.IDB) error) error {
	t, err := unwrapTx(rtx)
	if err != nil {
		return err
	}
	return t.step(ctx, doing, f)
}

// AddUsage adds usage to meters: all of it or, with an error, none. Any number of nodes may
// call it at once. Usage of a deleted budget is dropped. The first usage of a value key
// creates the policy's counter for it. AddUsage does not check limits: MeterQuery.Reached
// finds the meters that reached theirs.
//
// The call is not idempotent. After ReadOnly or an error of the connection the caller cannot
// tell whether the usage was stored. A caller that must count exactly once uses AddUsageIn,
// in the transaction that also stores how far it counted.
//
// The change feed reports AddUsage. It reports AddUsageIn only for negative usage: a node
// that rejects calls because a budget is used up does not store usage, so it would not see
// the correction. All other nodes read the meters when they flush.
func (s *meterTable) AddUsage(ctx context.Context, deltas []quota.Delta) error {
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

// AddUsageIn is AddUsage within a transaction. now is the time on the caller's clock. A
// reset after now was made by a clock that ran ahead, so usage before that reset counts.
// With a zero now it does not count.
func (s *meterTable) AddUsageIn(ctx context.Context, rtx resource.Tx, now time.Time, deltas []quota.Delta) error {
	return s.addUsage(ctx, rtx, now, usesOf(ordered(deltas)))
}

// addUsage is AddUsageIn for updates that are grouped and ordered by meter. It stores in
// uses what it read and changed of each meter.
func (s *meterTable) addUsage(ctx context.Context, rtx resource.Tx, now time.Time, uses []usageUpdate) error {
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

// usageBatch is the maximum number of meters that one message to the database updates.
const usageBatch = 500

// usageRows is the number of meters that one statement updates when the database is a file.
// The statement must not exceed maxStmtBytes, so that it is cached as prepared.
const usageRows = 150

// addUses adds its usage to each meter. It updates existing meters in few messages, because
// the transaction holds their locks meanwhile. A missing meter belongs to a deleted budget, or is
// the counter of a policy for a new value key.
func (s *meterTable) addUses(ctx context.Context, t *tx, uses []usageUpdate) error {
	there := make([]*usageUpdate, 0, len(uses))
	reported := "" // the last subject that was added to the change feed
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

// plusUsages returns the statements that add usage to meters. When the database is a file, a
// full batch is one statement, because each statement has a cost. A server gets many
// statements in one message.
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

// ordered returns a copy of deltas with all BudgetKeys filled in. It is sorted by meter, the
// order in which all writers lock.
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

// plusUsageRows is plusUsage for usageRows meters, in the SQL of SQLite.
var plusUsageRows = "UPDATE usage_meters SET used = used + v.column3 FROM (VALUES (?, ?, ?)" + strings.Repeat(", (?, ?, ?)", usageRows-1) +
	") AS v WHERE usage_meters.carrier_id = v.column1 AND usage_meters.entry = v.column2"

const (
	plusUsage = "UPDATE usage_meters SET used = used + ? WHERE carrier_id = ? AND entry = ?"
	// A new counter copies its limits from the head, so a deleted policy does not get one.
	newCounter = `INSERT INTO usage_meters (carrier_id, entry, carrier_kind, org_id, workspace_id, value_key, value_folded, used, limit_units, threshold_units,
exhausted, threshold_alert, exhausted_alert, last_reset_ms, next_reset_ms)
SELECT h.carrier_id, ?, h.carrier_kind, h.org_id, h.workspace_id, ?, ?, ?, h.limit_units, h.threshold_units, 0, 0, 0, 0, 0
FROM usage_meters AS h WHERE h.carrier_id = ? AND h.entry = '' `
)

// firstUsage creates the counter of a policy for a value key. If another node has created it
// meanwhile, firstUsage adds the usage to that one.
func (s *meterTable) firstUsage(ctx context.Context, db bun.IDB, d *quota.Delta) error {
	row, err := meterRowOf(quota.Meter{Subject: quota.Subject{ID: d.SubjectID}, BudgetKey: d.BudgetKey, ValueKey: d.ValueKey})
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, newCounter+s.engine.onConflict("carrier_id, entry")+" used = usage_meters.used + ?",
		row.Entry, row.ValueKey, row.ValueFolded, d.Units, row.CarrierID, d.Units)
	return err
}
