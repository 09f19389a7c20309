package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/extra"
)

// partRows is about the number of rows that one part of retention processes. The writer waits
// for one part, not for the complete retention.
const partRows = 5_000

// A blank row has a negative bytes_in, which no other row has. The statistics of the column
// make the condition free where there are no blank rows.
const (
	isShown = "bytes_in >= 0"
	isBlank = -1
)

// due adds the condition that selects the rows of a retention batch.
func (w *where) due(wave requestlog.RetentionBatch) {
	w.add("started < ?", wave.Before.UTC())
	if wave.Workspaces == nil {
		return
	}
	args := make([]any, len(wave.Workspaces))
	for i, id := range wave.Workspaces {
		args[i] = id
	}
	w.add("series IN (SELECT id FROM series WHERE workspace_id IN ("+marks(len(args))+"))", args...)
}

// retention deletes rows and bodies that are no longer retained.
type retention struct{ *database }

// part selects the first rows of a retention batch by time. It returns their condition and the
// span of their start times; there is false if no row is due. Rows of the same microsecond
// stay together, so there may be some more than partRows.
func (d *retention) part(ctx context.Context, wave requestlog.RetentionBatch, conditions ...string) (w where, window span, there bool, err error) {
	w.due(wave)
	for _, c := range conditions {
		w.add(c)
	}
	var first, last sql.NullTime
	err = d.sql.QueryRowContext(ctx, fmt.Sprintf("SELECT min(started), max(started) FROM (SELECT started FROM attempts%s ORDER BY started LIMIT %d)", w.sql(), partRows), w.args...).Scan(&first, &last)
	if err != nil {
		return w, window, false, fmt.Errorf("find old log rows: %w", err)
	}
	w.add("started <= ?", last.Time.UTC())
	return w, span{first.Time.UnixMicro(), last.Time.UnixMicro() + 1}, last.Valid, nil
}

// change runs do in a transaction of the only writer. The transaction also deletes the rollups
// of window, the time in which rows change. The zero span means that the metrics do not change.
func (d *database) change(ctx context.Context, window span, do func(*sql.Tx) (int64, error)) (n int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	stored := false
	defer func() { d.series.finishTransaction(stored) }()
	tx, err := d.sql.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if window != (span{}) {
		defer func() { err = errors.Join(err, d.markDirtyAgain(context.WithoutCancel(ctx))) }()
		if err := d.markDirty(ctx, tx, window); err != nil {
			return 0, err
		}
	}
	if n, err = do(tx); err != nil {
		return 0, err
	}
	if err := tx.Commit(); err != nil {
		return 0, err
	}
	stored = true
	return n, nil
}

// exec runs a statement and returns how many rows it changed.
func exec(ctx context.Context, tx *sql.Tx, query string, args ...any) (int64, error) {
	result, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// eachWave calls do for each retention batch until one returns a number above 0 or an error.
func eachWave(due requestlog.RetentionCutoffs, do func(requestlog.RetentionBatch) (int64, error)) (int64, error) {
	for _, wave := range due.Waves() {
		if n, err := do(wave); err != nil || n > 0 {
			return n, err
		}
	}
	return 0, nil
}

// Delete implements requestlog.RowStore. The last call also deletes series without rows.
func (d *retention) Delete(ctx context.Context, due requestlog.RetentionCutoffs) (int64, error) {
	n, err := eachWave(due, func(wave requestlog.RetentionBatch) (int64, error) { return d.deletePart(ctx, wave) })
	if err == nil && n == 0 {
		err = d.sweep(ctx, due.Before)
	}
	if err != nil {
		return 0, fmt.Errorf("delete log rows: %w", err)
	}
	return n, nil
}

func (d *retention) deletePart(ctx context.Context, wave requestlog.RetentionBatch) (int64, error) {
	w, window, there, err := d.part(ctx, wave)
	if err != nil || !there {
		return 0, err
	}
	return d.change(ctx, window, func(tx *sql.Tx) (int64, error) {
		if err := deleteTrail(ctx, tx, &w); err != nil {
			return 0, err
		}
		return exec(ctx, tx, "DELETE FROM attempts"+w.sql(), w.args...)
	})
}

// attached are the tables with what belongs to rows.
var attached = []string{"corrections", "late_hooks"}

// deleteTrail deletes the corrections of rows, and their late results of guardrails.
func deleteTrail(ctx context.Context, tx *sql.Tx, batch *where) error {
	for _, table := range attached {
		if _, err := exec(ctx, tx, "DELETE FROM "+table+" WHERE id IN (SELECT id FROM attempts"+batch.sql()+")", batch.args...); err != nil {
			return err
		}
	}
	return nil
}

// sweep deletes what is attached to rows that were deleted earlier, and series without rows. The
// search for such series does not block the writer.
func (d *retention) sweep(ctx context.Context, before time.Time) error {
	for _, table := range attached {
		if before.IsZero() {
			break
		}
		if _, err := d.change(ctx, span{}, func(tx *sql.Tx) (int64, error) {
			return exec(ctx, tx, "DELETE FROM "+table+" WHERE started < ?", before.UTC())
		}); err != nil {
			return err
		}
	}
	var idle []any
	err := eachSeries(ctx, d.sql, "id NOT IN (SELECT series FROM attempts)", nil, func(id int32, _ *record.Attempt) { idle = append(idle, id) })
	if err != nil || len(idle) == 0 {
		return err
	}
	_, err = d.change(ctx, span{}, func(tx *sql.Tx) (int64, error) {
		ids := marks(len(idle))
		return exec(ctx, tx, "DELETE FROM series WHERE id IN ("+ids+") AND id NOT IN (SELECT series FROM attempts WHERE series IN ("+ids+"))", append(slices.Clone(idle), idle...)...)
	})
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	fresh, err := loadSeries(ctx, d.sql)
	if err != nil {
		return err
	}
	fresh.next = max(fresh.next, d.series.next) // numbers are not used again
	d.series = fresh
	return nil
}

// DueFiles implements requestlog.RowStore. All files belong to this node.
func (d *retention) DueFiles(ctx context.Context, _ string, due requestlog.RetentionCutoffs) (files []uint32, err error) {
	for _, wave := range due.Waves() {
		var w where
		w.add(inFile)
		w.due(wave)
		var file uint32
		err := d.visit(ctx, "SELECT DISTINCT body_file FROM attempts"+w.sql()+" ORDER BY body_file", w.args, func() error {
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
			return nil
		}, &file)
		if err != nil {
			return nil, fmt.Errorf("find old bodies: %w", err)
		}
	}
	return files, nil
}

// visit scans the rows of a query into dest and calls visit for each.
func (d *retention) visit(ctx context.Context, query string, args []any, visit func() error, dest ...any) error {
	rows, err := d.sql.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err returns its error
	return each(rows, func() error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		return visit()
	})
}

// each calls visit for each row and closes rows.
func each(rows *sql.Rows, visit func() error) error {
	defer func() { _ = rows.Close() }() // Err returns its error
	for rows.Next() {
		if err := visit(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// notDue adds the condition that rows are in no retention batch.
func (w *where) notDue(due requestlog.RetentionCutoffs) {
	for _, wave := range due.Waves() {
		var window where
		window.due(wave)
		w.add("NOT ("+strings.Join(window.conditions, " AND ")+")", window.args...)
	}
}

// RetainedSpans implements requestlog.RowStore.
func (d *retention) RetainedSpans(ctx context.Context, _ string, file uint32, due requestlog.RetentionCutoffs) (spans []bodies.Span, err error) {
	var w where
	w.add("body_file = ?", file)
	w.notDue(due)
	var body bodies.Span
	err = d.visit(ctx, "SELECT body_block, body_at, request_length + response_length FROM attempts"+w.sql(), w.args, func() error {
		spans = append(spans, body)
		return nil
	}, &body.Block, &body.Offset, &body.Size)
	if err != nil {
		return nil, fmt.Errorf("find stored bodies: %w", err)
	}
	return spans, nil
}

// inFile is the condition that selects rows whose bodies are in a numbered file. isSingle
// selects rows whose bodies are separate objects.
const inFile = "body_file BETWEEN 1 AND 4294967294"

var isSingle = fmt.Sprintf("body_file = %d", uint32(bodies.Single))

// DueKeys implements requestlog.RowStore.
func (d *retention) DueKeys(ctx context.Context, due requestlog.RetentionCutoffs) (keys []string, batch requestlog.RetentionCutoffs, err error) {
	_, err = eachWave(due, func(wave requestlog.RetentionBatch) (int64, error) {
		w, window, there, err := d.part(ctx, wave, isSingle)
		if err != nil || !there {
			return 0, err
		}
		batch = wave.RetentionCutoffs().Until(time.UnixMicro(window.to - 1).UTC())
		var text string
		return 1, d.visit(ctx, "SELECT extra FROM attempts"+w.sql(), w.args, func() error {
			var x extra.Fields
			err := x.Read(text)
			keys = append(keys, x.BodyKey)
			return err
		}, &text)
	})
	if err != nil {
		return nil, requestlog.RetentionCutoffs{}, fmt.Errorf("find old bodies: %w", err)
	}
	return keys, batch, nil
}

// Forget implements requestlog.RowStore.
func (d *retention) Forget(ctx context.Context, _ string, file uint32, due requestlog.RetentionCutoffs) (int64, error) {
	condition := fmt.Sprintf("body_file = %d", file)
	n, err := eachWave(due, func(wave requestlog.RetentionBatch) (int64, error) {
		w, _, there, err := d.part(ctx, wave, condition)
		if err != nil || !there {
			return 0, err
		}
		return d.change(ctx, span{}, func(tx *sql.Tx) (int64, error) {
			return exec(ctx, tx, "UPDATE attempts SET body_file = 0, body_block = 0, body_at = 0, request_length = 0, response_length = 0, extra = "+withoutRef+w.sql(), w.args...)
		})
	})
	if err != nil {
		return 0, fmt.Errorf("delete references to bodies: %w", err)
	}
	return n, nil
}

// withoutRef is the expression for extra without the key of the bodies.
const withoutRef = "CASE WHEN contains(extra, '\"body_key\":') THEN replace(json_merge_patch(extra::JSON, '{\"body_key\":null}'::JSON)::VARCHAR, '{}', '') ELSE extra END"

// FirstFile implements requestlog.RowStore.
func (d *retention) FirstFile(ctx context.Context, _ string) (uint32, error) {
	var file sql.NullInt64
	err := d.sql.QueryRowContext(ctx, "SELECT min(body_file) FROM attempts WHERE "+inFile).Scan(&file)
	if err != nil {
		return 0, fmt.Errorf("find first bodies: %w", err)
	}
	return uint32(file.Int64), nil
}
