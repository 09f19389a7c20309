package sqlstore

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
)

// maxValueKey is the maximum length of a stored value key, in characters. The rest is cut; its
// entry is still derived from the complete key.
const maxValueKey = 4096

// meterRow is a row of the table usage_meters. A time of 0 means never; flags are 0 or 1.
type meterRow struct {
	bun.BaseModel `bun:"table:usage_meters,alias:m"`

	CarrierID      string `bun:",pk"`
	Entry          string `bun:",pk"`
	CarrierKind    string
	OrgID          string
	WorkspaceID    string
	ValueKey       string
	ValueFolded    string
	Used           int64
	LimitUnits     int64
	ThresholdUnits int64
	Exhausted      int64
	ThresholdAlert int64
	ExhaustedAlert int64
	LastResetMS    int64 `bun:"last_reset_ms"`
	NextResetMS    int64 `bun:"next_reset_ms"`
}

// meterTable contains the usage meters and the position in the journal up to which they count.
type meterTable struct{ *database }

func meterRowOf(m quota.Meter) (meterRow, error) {
	for _, f := range []struct {
		name, value string
		max         int
	}{
		{"carrier_kind", m.Kind, 64}, {"carrier_id", m.ID, 36}, {"organisation_id", m.OrgID, 36}, {"workspace_id", m.WorkspaceID, 36}, {"entry", m.BudgetKey, 64},
	} {
		if err := storable(f.name, f.value, f.max); err != nil {
			return meterRow{}, err
		}
	}
	key := clip(m.ValueKey, maxValueKey)
	return meterRow{
		CarrierID: m.ID, Entry: m.BudgetKey, CarrierKind: m.Kind, OrgID: m.OrgID, WorkspaceID: m.WorkspaceID,
		ValueKey: key, ValueFolded: strings.ToLower(key), Used: m.Used, LimitUnits: m.Limit, ThresholdUnits: m.Threshold,
		Exhausted: bit(m.Exhausted), ThresholdAlert: bit(m.ThresholdAlert), ExhaustedAlert: bit(m.ExhaustedAlert),
		LastResetMS: msOrNever(m.LastReset), NextResetMS: msOrNever(m.NextReset),
	}, nil
}

func (row *meterRow) meter() quota.Meter {
	return quota.Meter{
		Subject:   quota.Subject{Kind: row.CarrierKind, ID: row.CarrierID, OrgID: row.OrgID, WorkspaceID: row.WorkspaceID},
		BudgetKey: row.Entry, ValueKey: row.ValueKey, Used: row.Used, Limit: row.LimitUnits, Threshold: row.ThresholdUnits,
		Exhausted: row.Exhausted != 0, ThresholdAlert: row.ThresholdAlert != 0, ExhaustedAlert: row.ExhaustedAlert != 0,
		LastReset: timeOrNever(row.LastResetMS), NextReset: timeOrNever(row.NextResetMS),
	}
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func msOrNever(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func timeOrNever(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Meters returns the meters that a query selects, by subject and entry, at most 1000. If from is
// a transaction of this store, the meters stay locked until its end, so that its changes are not
// based on outdated usage.
func (s *meterTable) Meters(ctx context.Context, from resource.Reader, q quota.MeterQuery) ([]quota.Meter, error) {
	limit, err := pageSize(q.Limit)
	if err != nil {
		return nil, err
	}
	r, lock := s.readsOf(from)
	return r.meters(ctx, q, limit, lock)
}

// FreshMeters works like Meters but reads from the writer, without locks: a replica may lag
// behind a CountUsage of this node. While the writer is down nothing is counted, so the reader
// has all there is.
func (s *meterTable) FreshMeters(ctx context.Context, q quota.MeterQuery) ([]quota.Meter, error) {
	limit, err := pageSize(q.Limit)
	if err != nil {
		return nil, err
	}
	if s.read.db != s.write.db && !s.write.isRecentlyUnavailable() {
		onWriter := reads{db: s.writer, engine: s.engine, side: s.write}
		if list, err := onWriter.meters(ctx, q, limit, ""); err == nil || ctx.Err() != nil {
			return list, err
		}
	}
	return s.reads.meters(ctx, q, limit, "")
}

// meters reads meters, and locks them with the lock clause, if any.
func (r reads) meters(ctx context.Context, q quota.MeterQuery, limit int64, lock string) ([]quota.Meter, error) {
	var rows []meterRow
	err := r.runStep(ctx, "list usage meters", func(ctx context.Context) error {
		rows = rows[:0]
		sel := meterFilter(r.db.NewSelect().Model(&rows), q)
		if q.SortByUsage {
			sel = sel.Order("m.used DESC")
		}
		if lock != "" {
			sel = sel.For(lock)
		}
		return sel.Order("m.carrier_id", "m.entry").Limit(limit).Offset(int64(q.Offset)).Scan(ctx)
	})
	meters := make([]quota.Meter, len(rows))
	for i := range rows {
		meters[i] = rows[i].meter()
	}
	return meters, err
}

// CountMeters returns how many meters a query selects. It ignores the page of the query.
func (s *meterTable) CountMeters(ctx context.Context, from resource.Reader, q quota.MeterQuery) (int, error) {
	r, _ := s.readsOf(from)
	var n int64
	err := r.runStep(ctx, "count usage meters", func(ctx context.Context) (err error) {
		n, err = meterFilter(r.db.NewSelect().Model((*meterRow)(nil)), q).Count(ctx)
		return err
	})
	return int(n), err
}

// readsOf returns the reads of a transaction of this store and its lock clause; for every other
// reader it returns the reads of the store.
func (s *meterTable) readsOf(from resource.Reader) (r reads, lock string) {
	if t, ok := from.(*tx); ok {
		return t.reads, t.engine.lock
	}
	return s.reads, ""
}

func meterFilter(sel *bun.SelectQuery, q quota.MeterQuery) *bun.SelectQuery {
	if q.SubjectID != "" {
		sel = sel.Where("m.carrier_id = ?", q.SubjectID)
	}
	if q.WorkspaceID != "" {
		sel = sel.Where("m.workspace_id = ?", q.WorkspaceID)
	}
	if len(q.Entries) > 0 {
		sel = sel.Where("m.entry IN (?)", bun.List(q.Entries))
	}
	if q.Counters {
		sel = sel.Where("m.entry <> ''")
	}
	if q.Exhausted != nil {
		sel = sel.Where("m.exhausted = ?", bit(*q.Exhausted))
	}
	if q.Search != "" {
		sel = sel.Where("m.value_folded LIKE ? ESCAPE '!'", "%"+wildcards.Replace(strings.ToLower(q.Search))+"%")
	}
	if !q.DueBy.IsZero() {
		sel = sel.Where("m.next_reset_ms > 0").Where("m.next_reset_ms <= ?", q.DueBy.UnixMilli())
	}
	if q.Reached {
		sel = sel.Where("m.entry <> ''").Where("(m.exhausted = 0 AND m.used >= m.limit_units OR m.threshold_units > 0 AND m.threshold_alert = 0 AND m.used >= m.threshold_units)")
	}
	if q.Relieved {
		sel = sel.Where("m.entry <> ''").Where("(m.exhausted <> 0 AND m.used < m.limit_units OR m.threshold_alert <> 0 AND m.used < m.threshold_units)")
	}
	if q.After != nil {
		// Both conditions mean the same: MySQL uses the first to find its position in the index,
		// SQLite and PostgreSQL the second.
		sel = sel.Where("(m.carrier_id > ? OR m.carrier_id = ? AND m.entry > ?)", q.After.ID, q.After.ID, q.After.BudgetKey).
			Where("(m.carrier_id, m.entry) > (?, ?)", q.After.ID, q.After.BudgetKey)
	}
	return sel
}

// unwrapTx returns a transaction of this store. Any other Tx is a programming error.
func unwrapTx(rtx resource.Tx) (*tx, error) {
	t, ok := rtx.(*tx)
	if !ok {
		return nil, fault.New(fault.Internal, "").WithCause(errForeignTx)
	}
	return t, nil
}

// LatestMeter reads the usage of a budget from the writer, because a replica may lag. While the writer
// is down nothing is stored, so a reader has all there is.
func (s *Store) LatestMeter(ctx context.Context, id quota.CounterID) (m quota.Meter, found bool, err error) {
	q := quota.MeterQuery{SubjectID: id.Subject, Entries: []string{id.Entry}, Limit: 1}
	if id.ValueKey != "" {
		q.Entries[0] = quota.EntryOf(id.ValueKey)
	}
	var list []quota.Meter
	err = s.InTx(ctx, func(tx resource.Tx) (err error) {
		list, err = s.Meters(ctx, tx, q)
		return err
	})
	if fault.Has(err, fault.ReadOnly) {
		list, err = s.Meters(ctx, nil, q)
	}
	if err != nil || len(list) == 0 {
		return quota.Meter{}, false, err
	}
	return list[0], true, nil
}
