package duckdb

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"sluice/internal/background"
)

// How sums are worked out in the background.
const (
	rollInterval = 10 * time.Second // between looks for slots that are due
	rollShare    = 3                // after slots follows a pause so many times as long as they took
	idleShare    = 30               // and after a look that found none, in which rows of judged traces are looked for
)

// Run works out sums beforehand until ctx ends. A failure is logged and what it left undone
// done again, as background.Follow says: questions are answered by the rows meanwhile.
func (d *DB) Run(ctx context.Context) error {
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

// Roll works out all slots that are due at a time. It is not called while Run is.
func (d *DB) Roll(ctx context.Context, now time.Time) error {
	for {
		if more, err := d.rollOne(ctx, now); err != nil || !more {
			return err
		}
	}
}

// rollOne works out the first of the slots that are due, and reports whether there were any.
func (d *DB) rollOne(ctx context.Context, now time.Time) (more bool, err error) {
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
		more, err = d.updatePendingTraces(ctx)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("compute rollups: %w", err)
	}
	return more, nil
}

// loadHours learns, once, in which hours there are rows, and forgets sums whose slots are gone.
func (d *DB) loadHours(ctx context.Context) error {
	d.mu.Lock()
	x := d.slots // others when the database is opened again meanwhile
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
	hours, err := d.hoursOfRows(ctx) // those of rows that come meanwhile the writer notes
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

func (d *DB) hoursOfRows(ctx context.Context) (map[int64]int64, error) {
	rows, err := d.sql.QueryContext(ctx, "SELECT epoch_us(started) // 3600000000, count(*) FROM attempts GROUP BY ALL")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err below tells
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

// deleteUnusedRollups deletes sums that belong to no slot.
func (d *DB) deleteUnusedRollups(ctx context.Context) error {
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

// nextSlots are the slots to be worked out together next: of the finest level that has any,
// the newest, as many as have batchRows. Hours are put together of what is there of their
// minutes, quarters of a day of hours, days of quarters, weeks of days.
func (d *DB) nextSlots(now time.Time) []bucket {
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

// readyBuckets are those of a level that can be worked out now. An hour is cut into minutes
// as long as it is not over; a quarter waits for its hours, a day for its quarters, a week for
// its days.
func (x *slotIndex) readyBuckets(l rollupLevel, now int64) (out []bucket) {
	above := map[bucket]bool{} // whether it must wait
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

// batchRows is about how many rows are worked out in one transaction, and batchSlots how
// many slots.
const (
	batchRows  = 400_000
	batchSlots = 50
)

// batch is the newest of some slots.
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

// isReady reports whether a slot has been over, and unchanged, for long enough.
func (x *slotIndex) isReady(s bucket, now int64) bool {
	grace := levels[s.rollupLevel].grace.Microseconds()
	changed, ever := x.soiled[s]
	return s.end()+grace <= now && (!ever || changed.UnixMicro()+grace <= now)
}

// build works out slots of one level in a transaction of its own. When one of their rows
// changed since the transaction began, nothing is stored.
func (d *DB) build(ctx context.Context, slots []bucket) error {
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

// beginBuild begins a transaction between two of the writer's, and reads the slots of finer
// levels.
func (d *DB) beginBuild(ctx context.Context, conn *sql.Conn, slots []bucket) (*builder, error) {
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

// endBuild stores what was worked out, between two transactions of the writer.
func (d *DB) endBuild(ctx context.Context, b *builder, failed error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.slots
	changed := x.changed
	x.building, x.changed = span{}, false
	if failed != nil || changed {
		for _, s := range b.slots { // they are tried again later, after others
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
