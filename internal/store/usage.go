package store

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/fault"
	"sluice/internal/quota"
	"sluice/internal/resource"
)

// usagePosition is a line of the table usage_positions: how far into its journal a node
// has counted what was used.
type usagePosition struct {
	bun.BaseModel `bun:"table:usage_positions,alias:p"`

	Node string `bun:",pk"`
	Seq  int64
}

// UsagePosition is the number of the first entry in the journal of a node that was not
// counted yet; 0 for a node that never counted. It asks the writer.
func (s *Store) UsagePosition(ctx context.Context, node string) (seq uint64, err error) {
	err = s.InTx(ctx, func(rtx resource.Tx) (err error) {
		seq, err = s.positionIn(ctx, rtx, node)
		return err
	})
	return seq, err
}

// UsageSeen is a UsagePosition that was true lately: it asks no writer, and what it asks
// may be behind.
func (s *Store) UsageSeen(ctx context.Context, node string) (seq uint64, err error) {
	r, _ := s.readsOf(nil)
	err = r.within(ctx, "read the position of usage", func(ctx context.Context) error {
		var row usagePosition
		err := r.db.NewSelect().Model(&row).Where("p.node = ?", node).Scan(ctx)
		if seq = uint64(row.Seq); errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return seq, err
}

// positionIn reads the position of a node and holds it until the end of the transaction.
func (s *Store) positionIn(ctx context.Context, rtx resource.Tx, node string) (seq uint64, err error) {
	err = s.onMeters(ctx, rtx, "read the position of usage", func(ctx context.Context, db bun.IDB) error {
		var row usagePosition
		sel := db.NewSelect().Model(&row).Where("p.node = ?", node)
		if s.engine.lock != "" {
			sel = sel.For(s.engine.lock)
		}
		err := sel.Scan(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		seq = uint64(row.Seq)
		return err
	})
	return seq, err
}

// CountUsage adds what a node used between two positions of its journal and moves its
// position from one to the other, which lies behind it, in one transaction: so each entry
// counts exactly once, whatever fails in between. It returns the meters that the deltas
// name, as they are then. After an error of which it is not known whether the call was
// kept, the same call is made again: it adds nothing when it finds the position at to.
// Conflict when the position is neither: another process counts for the same node. now is
// as AddUsageIn takes it.
func (s *Store) CountUsage(ctx context.Context, node string, now time.Time, from, to uint64, deltas []quota.Delta) (after []quota.Meter, err error) {
	list := ordered(deltas)
	err = s.InTx(ctx, func(rtx resource.Tx) error {
		var known map[meterName]*resets
		at, err := s.positionIn(ctx, rtx, node)
		switch {
		case err != nil:
			return err
		case at == to: // an earlier call was kept
		case at != from:
			return fault.Newf(fault.Conflict, "the usage of node %s was counted by another process", node)
		default:
			if err := s.moveUsage(ctx, rtx, node, from, to); err != nil {
				return err
			}
			if known, err = s.addUsage(ctx, rtx, now, slices.Clone(list)); err != nil {
				return err
			}
		}
		after, err = s.metersAfter(ctx, rtx, list, known)
		return err
	})
	if err != nil {
		return nil, err
	}
	return after, nil
}

// metersAfter are the meters that an ordered list names, as they are in the transaction:
// read, where it is not known that they have a row or what that is.
func (s *Store) metersAfter(ctx context.Context, rtx resource.Tx, list []quota.Delta, known map[meterName]*resets) (after []quota.Meter, err error) {
	var unknown []quota.Delta
	after = make([]quota.Meter, 0, len(known))
	for i := range list {
		name := nameOf(&list[i])
		if i > 0 && name == nameOf(&list[i-1]) {
			continue
		}
		switch r := known[name]; {
		case r != nil && r.row != nil:
			after = append(after, r.row.meter())
		default:
			unknown = append(unknown, list[i])
		}
	}
	if len(unknown) == 0 {
		return after, nil
	}
	err = s.onMeters(ctx, rtx, "read usage meters back", func(ctx context.Context, db bun.IDB) error {
		rows, err := s.metersOf(ctx, db, unknown, "")
		for i := range rows {
			after = append(after, rows[i].meter())
		}
		return err
	})
	return after, err
}

// moveUsage moves the position of a node, which positionIn holds. Two that begin at once
// clash.
func (s *Store) moveUsage(ctx context.Context, rtx resource.Tx, node string, from, to uint64) error {
	return s.onMeters(ctx, rtx, "move the position of usage", func(ctx context.Context, db bun.IDB) error {
		if from == 0 {
			_, err := db.NewInsert().Model(&usagePosition{Node: node, Seq: int64(to)}).Exec(ctx)
			return err
		}
		_, err := db.NewUpdate().Table("usage_positions").Set("seq = ?", int64(to)).Where("node = ?", node).Exec(ctx)
		return err
	})
}

// meterBatch is how many carriers, or counters of one, one statement looks up.
const meterBatch = 500

// metersOf reads the meters that ordered deltas name, and holds them with a lock clause:
// first those of budgets, then those of policies, each in the order of their names, so that
// no two who hold some wait for each other.
func (s *Store) metersOf(ctx context.Context, db bun.IDB, list []quota.Delta, lock string) (out []meterRow, err error) {
	wanted := make(map[meterName]bool, len(list))
	var budgets, heads []string // carriers
	var counters []quota.Delta
	for i := range list {
		d := &list[i]
		if i > 0 && nameOf(d) == nameOf(&list[i-1]) {
			continue
		}
		wanted[nameOf(d)] = true
		switch {
		case d.Entry == "":
			heads = append(heads, d.CarrierID)
		case d.ValueKey == "":
			budgets = append(budgets, d.CarrierID)
		default:
			counters = append(counters, *d)
		}
	}
	out = make([]meterRow, 0, len(wanted))
	read := func(where statement) error {
		q := statement{text: "SELECT " + meterColumns + " FROM usage_meters AS m WHERE "}
		q.add(where.text+" ORDER BY m.carrier_id, m.entry", where.args...)
		if lock != "" {
			q.text += " FOR " + lock
		}
		return reads{db: db, engine: s.engine}.ask(ctx, q, func(rows *sql.Rows) error {
			var m meterRow
			if err := m.scan(rows); err != nil {
				return err
			}
			if wanted[meterName{m.CarrierID, m.Entry}] {
				out = append(out, m)
			}
			return nil
		})
	}
	for some := range slices.Chunk(slices.Compact(budgets), meterBatch) { // a carrier has few: no need to name them
		var where statement
		where.oneOf("m.carrier_id", some)
		if err := read(where); err != nil {
			return nil, err
		}
	}
	for some := range slices.Chunk(heads, meterBatch) {
		var where statement
		where.oneOf("m.carrier_id", some)
		where.add(" AND m.entry = ''")
		if err := read(where); err != nil {
			return nil, err
		}
	}
	for some := range countersOfOne(counters) {
		where := statement{"m.carrier_id = ? AND ", []any{some[0].CarrierID}}
		where.oneOf("m.entry", namesOfCounters(some))
		if err := read(where); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// meterColumns are those of a meter, without the one that is searched.
const meterColumns = "m.carrier_id, m.entry, m.carrier_kind, m.org_id, m.workspace_id, m.value_key, m.used, m.limit_units, " +
	"m.threshold_units, m.exhausted, m.threshold_alert, m.exhausted_alert, m.last_reset_ms, m.next_reset_ms"

// scan takes meterColumns.
func (row *meterRow) scan(rows *sql.Rows) error {
	return rows.Scan(&row.CarrierID, &row.Entry, &row.CarrierKind, &row.OrgID, &row.WorkspaceID, &row.ValueKey, &row.Used, &row.LimitUnits,
		&row.ThresholdUnits, &row.Exhausted, &row.ThresholdAlert, &row.ExhaustedAlert, &row.LastResetMS, &row.NextResetMS)
}

// countersOfOne goes through the counters of one policy after the other, in batches.
func countersOfOne(ordered []quota.Delta) iter.Seq[[]quota.Delta] {
	return func(yield func([]quota.Delta) bool) {
		for len(ordered) > 0 {
			n := 1
			for n < min(len(ordered), meterBatch) && ordered[n].CarrierID == ordered[0].CarrierID {
				n++
			}
			if !yield(ordered[:n]) {
				return
			}
			ordered = ordered[n:]
		}
	}
}

func namesOfCounters(list []quota.Delta) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = list[i].Entry
	}
	return out
}
