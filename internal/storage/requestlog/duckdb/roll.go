package duckdb

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"sluice/internal/kernel/background"
)

// How rollups are computed in the background.
const (
	rollInterval = 10 * time.Second // minimum pause after a check that found no work
	rollShare    = 3                // the pause after work is this many times its duration
	idleShare    = 30               // the pause after a check without work is at least this many times its duration
)

// roller computes the rollups that analytics read.
type roller struct {
	*database
	feedback feedbackTable
}

// Run computes rollups in advance until ctx ends. It logs a failure and repeats the work with
// the pauses of background.RunWithBackoff. Meanwhile analyses read the rows instead.
func (d *roller) Run(ctx context.Context) error {
	var worked uint64
	outage := background.NewOutageLog(d.log, "cannot compute rollups; queries fall back to full scans", "rollups of the request log restored")
	background.RunWithBackoff(ctx, func(ctx context.Context) error {
		for {
			began := time.Now()
			more, err := d.rollOne(ctx, d.now())
			if err != nil {
				return err
			}
			outage.Recovered()
			pause := max(rollInterval, idleShare*time.Since(began))
			if more {
				worked++
				pause = rollShare * time.Since(began)
			}
			if err := background.Sleep(ctx, pause); err != nil {
				return err
			}
		}
	}, func() uint64 { return worked }, func(err error, pause time.Duration) {
		outage.Failed(err, "retry", pause)
	})
	return nil
}

// Roll computes all rollup buckets that are due at now. It must not be called while Run runs.
func (d *roller) Roll(ctx context.Context, now time.Time) error {
	for {
		if more, err := d.rollOne(ctx, now); err != nil || !more {
			return err
		}
	}
}

// rollOne computes the next rollup buckets that are due. If there are none, it updates pending
// traces. It reports whether there was work.
func (d *roller) rollOne(ctx context.Context, now time.Time) (more bool, err error) {
	err = atLowPriority(func() error {
		if err := d.reopen(ctx); err != nil {
			return err
		}
		if err := d.loadHours(ctx); err != nil {
			return err
		}
		slots := d.nextSlots(now)
		if more = len(slots) > 0; more {
			return d.build(ctx, slots)
		}
		more, err = d.feedback.updatePendingTraces(ctx)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("compute rollups: %w", err)
	}
	return more, nil
}

// loadHours loads, once, the hours that have rows. It also deletes rollups whose buckets are
// gone.
func (d *roller) loadHours(ctx context.Context) error {
	d.mu.Lock()
	x := d.slots // d.slots is replaced if the database is reopened meanwhile
	sweep, known := x.sweep, x.surveyed
	x.sweep = false
	d.mu.Unlock()
	if sweep {
		if err := d.deleteUnusedRollups(ctx); err != nil {
			return err
		}
	}
	if known {
		return nil
	}
	hours, err := d.hoursOfRows(ctx) // the writer counts rows that are added meanwhile
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for minute, n := range hours {
		x.hours[minute] += n
	}
	x.surveyed = true
	return nil
}

func (d *roller) hoursOfRows(ctx context.Context) (map[int64]int64, error) {
	rows, err := d.sql.QueryContext(ctx, "SELECT epoch_us(started) // 3600000000, count(*) FROM attempts GROUP BY ALL")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err below returns its error
	out := map[int64]int64{}
	for rows.Next() {
		var hour, n int64
		if err := rows.Scan(&hour, &n); err != nil {
			return nil, err
		}
		out[slotAt(byHours, hour*time.Hour.Microseconds()).start] += n
	}
	return out, rows.Err()
}

// deleteUnusedRollups deletes rollups, and feedback rows, that belong to no rollup bucket.
func (d *roller) deleteUnusedRollups(ctx context.Context) error {
	for l := range levels {
		for _, k := range rollupLevel(l).tables() {
			_, err := d.sql.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s WHERE start NOT IN (SELECT start FROM slots WHERE level = %d)", table(k, rollupLevel(l)), l))
			if err != nil {
				return err
			}
		}
	}
	_, err := d.sql.ExecContext(ctx, fmt.Sprintf("DELETE FROM heard WHERE date_trunc('hour', started) NOT IN (SELECT start FROM slots WHERE level = %d)", byHours))
	return err
}

// nextSlots returns the rollup buckets to compute together next: the newest of the finest
// level that has any, up to about batchRows rows. Hours are computed from the minutes that
// exist, quarters of a day from hours, days from quarters, and weeks from days.
func (d *roller) nextSlots(now time.Time) []bucket {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.slots
	for l := range levels {
		if ready := x.readyBuckets(rollupLevel(l), now.UnixMicro()); len(ready) > 0 {
			return x.batch(ready)
		}
	}
	return nil
}

// readyBuckets returns the rollup buckets of a level that can be computed now. Minutes are
// computed only while their hour is not ready. A quarter waits for its hours, a day for its
// quarters, and a week for its days.
func (x *slotIndex) readyBuckets(l rollupLevel, now int64) (out []bucket) {
	above := map[bucket]bool{} // true if the bucket must wait
	for start := range x.hours {
		hour := bucket{byHours, start}
		quarter, day := slotAt(byQuarters, start), slotAt(byDays, start)
		switch l {
		case byMinutes:
			if x.valid[hour] || x.isReady(hour, now) {
				continue
			}
			for minute := start; minute < hour.end(); minute += levels[byMinutes].width.Microseconds() {
				above[bucket{byMinutes, minute}] = false
			}
		case byHours:
			above[hour] = false
		case byQuarters:
			above[quarter] = above[quarter] || !x.valid[hour]
		case byDays:
			above[day] = above[day] || !x.valid[quarter]
		case byWeeks:
			week := slotAt(byWeeks, start)
			above[week] = above[week] || !x.valid[day]
		}
	}
	for s, waits := range above {
		if !waits && !x.valid[s] && x.isReady(s, now) {
			out = append(out, s)
		}
	}
	return out
}

// batchRows is about the number of rows per transaction. batchSlots is the maximum number of
// rollup buckets per transaction.
const (
	batchRows  = 400_000
	batchSlots = 50
)

// batch returns the newest of some rollup buckets, at least one, within batchRows and
// batchSlots.
func (x *slotIndex) batch(slots []bucket) []bucket {
	slices.SortFunc(slots, func(a, b bucket) int { return cmp.Compare(b.start, a.start) })
	rows := map[bucket]int64{}
	for start, n := range x.hours {
		rows[slotAt(slots[0].rollupLevel, start)] += n
	}
	var total int64
	for i, s := range slots {
		if total += rows[s]; i > 0 && (total > batchRows || i >= batchSlots) {
			return slots[:i]
		}
	}
	return slots
}

// isReady reports whether a rollup bucket ended, and last changed, long enough ago.
func (x *slotIndex) isReady(s bucket, now int64) bool {
	grace := levels[s.rollupLevel].grace.Microseconds()
	changed, ever := x.soiled[s]
	return s.end()+grace <= now && (!ever || changed.UnixMicro()+grace <= now)
}

// build computes rollup buckets of one level in a separate transaction. If one of their rows
// changed since the transaction began, build stores nothing.
func (d *roller) build(ctx context.Context, slots []bucket) error {
	if err := d.checkDiskSpace(); err != nil {
		return err
	}
	conn, err := d.sql.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	b, err := d.beginBuild(ctx, conn, slots)
	if err != nil {
		return err
	}
	defer func() { _ = b.tx.Rollback() }() // does nothing after Commit
	return d.endBuild(ctx, b, b.work(ctx))
}

// beginBuild begins a transaction between two transactions of the writer, and reads the rollup
// buckets of finer levels.
func (d *roller) beginBuild(ctx context.Context, conn *sql.Conn, slots []bucket) (*builder, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	b := newBuilder(tx, slots)
	err = eachSlot(ctx, tx, fmt.Sprintf("level < %d AND %s", b.rollupLevel, spansCondition("start", b.spans)), func(s bucket, has rollupKind, _ int64) { b.has[s] = has })
	if err == nil && d.slots.stale {
		err = d.slots.load(ctx, tx)
	}
	if err != nil {
		_ = tx.Rollback()
		return nil, err
	}
	for _, s := range slots {
		if _, soiled := d.slots.soiled[s]; soiled {
			b.again = true
		}
	}
	d.slots.building, d.slots.changed = b.timeRange(), false
	return b, nil
}

// endBuild commits the computed rollups between two transactions of the writer.
func (d *roller) endBuild(ctx context.Context, b *builder, failed error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.slots
	changed := x.changed
	x.building, x.changed = span{}, false
	if failed != nil || changed {
		for _, s := range b.slots { // they are retried later, after others
			x.soiled[s] = d.now()
		}
		return failed
	}
	if err := b.commit(ctx); err != nil {
		x.stale, x.sweep = true, true
		return err
	}
	for _, s := range b.slots {
		delete(x.soiled, s)
		switch {
		case b.rows[s] > 0 || s.rollupLevel == byMinutes:
			x.valid[s] = true
		case s.rollupLevel == byHours:
			delete(x.hours, s.start)
		}
	}
	if b.rollupLevel == byHours {
		for s := range b.has {
			delete(x.valid, s)
		}
	}
	return nil
}
