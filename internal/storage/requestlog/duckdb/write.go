package duckdb

import (
	"cmp"
	"context"
	"errors"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/extra"
)

// Write implements requestlog.RowStore.
func (d *database) Write(ctx context.Context, fill func(requestlog.Sink) (requestlog.Progress, error)) (err error) {
	if err := d.reopen(ctx); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.base.err(); err != nil { // it may have failed meanwhile
		return err
	}
	defer func() { err = d.base.judge(err) }()
	if err := cmp.Or(ctx.Err(), d.checkDiskSpace()); err != nil {
		return err
	}
	if err := d.link.exec("BEGIN TRANSACTION"); err != nil {
		return err
	}
	stored := false
	d.arrived = arrival(d.arrived)
	w := &writer{db: d, arrived: d.arrived}
	defer func() {
		d.series.finishTransaction(stored)
		d.slots.finishTransaction(w.soiled, stored, d.now())
		if !stored { // after a failed commit there is nothing to roll back
			_ = d.link.exec("ROLLBACK")
		}
		d.link.adjustPriority()
	}()
	stop := d.link.until(ctx)
	defer stop() // before the rollback
	if err := d.write(ctx, w, fill); err != nil {
		return err
	}
	stored = true
	return nil
}

// write appends what fill adds, stores its progress and commits.
func (d *database) write(ctx context.Context, w *writer, fill func(requestlog.Sink) (requestlog.Progress, error)) error {
	p, err := fill(w)
	if err := w.close(err); err != nil {
		return err
	}
	if err := w.correct(); err != nil {
		return err
	}
	if err := w.markDirty(); err != nil {
		return err
	}
	if err := d.link.store(p); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // it may have ended between two statements
		return err
	}
	return d.link.exec("COMMIT")
}

// arrival returns a time of arrival after the last one, whatever the clock shows.
func arrival(last time.Time) time.Time {
	now := time.Now().UTC().Truncate(time.Microsecond)
	if next := last.Add(time.Microsecond); now.Before(next) {
		return next
	}
	return now
}

// writer appends the rows of one transaction.
type writer struct {
	db        *database
	rows      *appender // nil before the first
	series    *appender // nil before the first
	trail     *appender // of corrections; nil before the first
	lateHooks *appender // nil before the first
	span      span      // of the corrected attempts
	corrected int64
	arrived   time.Time       // of its rows
	touched   map[int64]int64 // number of rows added or changed, by the start of their five minutes
	last      span            // the five minutes of the last change
	soiled    map[bucket]bool // removed slots
	encoder
}

var _ requestlog.Sink = (*writer)(nil)

// Add implements requestlog.Sink.
func (w *writer) Add(a *record.Attempt, ref bodies.Ref) (err error) {
	common := a
	if extra.Unique(a.Request.Type) || extra.Unique(a.Response.Type) { // stored in extra
		b := *a
		common = &b
		if extra.Unique(b.Request.Type) {
			b.Request.Type = ""
		}
		if extra.Unique(b.Response.Type) {
			b.Response.Type = ""
		}
	}
	id, fresh := w.db.series.number(common)
	if fresh {
		if w.series == nil {
			if w.series, err = newSheet(w.db.link, "series", seriesKinds()); err != nil {
				return err
			}
		}
		if err := appendSeries(w.series, id, common); err != nil {
			return err
		}
	}
	if w.rows == nil {
		if w.rows, err = newSheet(w.db.link, "attempts", rowKinds); err != nil {
			return err
		}
	}
	w.touch(a.Started)
	return w.appendRow(w.rows, a, id, ref, w.arrived)
}

// close ends the appenders. It discards their rows if there was an error.
func (w *writer) close(err error) error {
	for _, s := range []*appender{w.series, w.rows, w.trail, w.lateHooks} {
		if s != nil {
			err = errors.Join(err, s.close(err == nil))
		}
	}
	return err
}
