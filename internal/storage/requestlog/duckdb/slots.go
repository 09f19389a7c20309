package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// slotIndex is the writer's index of slots. Callers hold DB.mu.
type slotIndex struct {
	valid    map[bucket]bool      // the slots of the table, and perhaps some that are deleted
	hours    map[int64]int64      // approximate maximum number of rows, by the start of their hour
	soiled   map[bucket]time.Time // when an existing slot was removed
	stale    bool                 // valid must be read again
	surveyed bool                 // hours are complete
	sweep    bool                 // rollups without a slot may exist
	building span                 // the span being computed; the zero span for none
	changed  bool                 // rows of building changed since it began
}

// loadSlots reads the slots of the database.
func loadSlots(ctx context.Context, db querier) (*slotIndex, error) {
	x := &slotIndex{valid: map[bucket]bool{}, hours: map[int64]int64{}, soiled: map[bucket]time.Time{}, sweep: true}
	return x, x.load(ctx, db)
}

func (x *slotIndex) load(ctx context.Context, db querier) error {
	clear(x.valid)
	err := eachSlot(ctx, db, "true", func(s bucket, _ rollupKind, _ int64) { x.valid[s] = true })
	x.stale = err != nil
	return err
}

// eachSlot calls visit with the slots that a condition selects.
func eachSlot(ctx context.Context, db querier, condition string, visit func(s bucket, has rollupKind, rows int64)) error {
	rows, err := db.QueryContext(ctx, "SELECT level, epoch_us(start), kinds, rows FROM slots WHERE "+condition)
	if err != nil {
		return fmt.Errorf("read log slots: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports errors
	for rows.Next() {
		var s bucket
		var has rollupKind
		var n int64
		if err := rows.Scan(&s.rollupLevel, &s.start, &has, &n); err != nil {
			return fmt.Errorf("read log slots: %w", err)
		}
		visit(s, has, n)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read log slots: %w", err)
	}
	return nil
}

// touch records that a row which started at a time is added or changed.
func (w *writer) touch(started time.Time) {
	if micros := started.UnixMicro(); micros < w.last.from || micros >= w.last.to {
		w.last = slotAt(byMinutes, micros).span()
	}
	if w.touched == nil {
		w.touched = map[int64]int64{}
	}
	w.touched[w.last.from]++
}

// markDirty removes, in the transaction of the writer, the slots whose rows it changed.
func (w *writer) markDirty() error {
	x := w.db.slots
	var gone []string
	for micros, rows := range w.touched {
		x.hours[slotAt(byHours, micros).start] += rows
		if x.building.from <= micros && micros < x.building.to {
			x.changed = true
		}
		for l := range levels {
			if s := slotAt(rollupLevel(l), micros); x.valid[s] && !w.soiled[s] {
				if w.soiled == nil {
					w.soiled = map[bucket]bool{}
				}
				w.soiled[s] = true
				gone = append(gone, fmt.Sprintf("(%d, make_timestamp(%d))", s.rollupLevel, s.start))
			}
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return w.db.link.exec("DELETE FROM slots WHERE (level, start) IN (" + strings.Join(gone, ", ") + ")")
}

// finishTransaction ends a transaction that removed slots. After a failed one it is unknown
// whether it was stored.
func (x *slotIndex) finishTransaction(gone map[bucket]bool, stored bool, now time.Time) {
	if !stored {
		x.stale = x.stale || len(gone) > 0
		x.sweep = x.sweep || len(gone) > 0
		return
	}
	for s := range gone {
		delete(x.valid, s)
		x.soiled[s] = now
	}
}

// markDirty removes all slots that overlap a span, in a transaction that deletes or changes rows
// of the span or data that belongs to them. The caller holds mu until the transaction has ended,
// and then calls markDirtyAgain.
func (d *database) markDirty(ctx context.Context, tx *sql.Tx, window span) error {
	if x := d.slots; x.building.from < window.to && window.from < x.building.to {
		x.changed = true
	}
	var conditions []string
	for l := range levels {
		reach := span{window.from, window.to}
		if window.from > ever {
			reach.from = slotAt(rollupLevel(l), window.from).start
		}
		conditions = append(conditions, fmt.Sprintf("(level = %d AND %s)", l, reach.condition("start")))
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM slots WHERE "+strings.Join(conditions, " OR ")); err != nil {
		return fmt.Errorf("delete log slots: %w", err)
	}
	return nil
}

// markDirtyAgain follows markDirty, whether the transaction was stored or not.
func (d *database) markDirtyAgain(ctx context.Context) error {
	before := d.slots.valid
	d.slots.valid = map[bucket]bool{}
	if err := d.slots.load(ctx, d.sql); err != nil {
		d.slots.valid = before
		return err
	}
	d.slots.sweep = true
	for s := range before {
		if !d.slots.valid[s] {
			d.slots.soiled[s] = d.now()
		}
	}
	return nil
}
