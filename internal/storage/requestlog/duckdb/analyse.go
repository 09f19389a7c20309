package duckdb

import (
	"context"
	"database/sql"
	"fmt"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog"
)

// Analyse implements requestlog.RowStore.
func (d *queries) Analyse(ctx context.Context, a record.Analysis) (record.AnalysisPage, error) {
	return requestlog.Analyse(ctx, a, d.analyse)
}

// analyse runs the single statement of an analysis.
func (d *queries) analyse(ctx context.Context, a *record.Analysis) (page record.AnalysisPage, err error) {
	err = d.reading(ctx, func(tx *sql.Tx) error {
		has, err := d.usable(ctx, tx, spanOf(a.Query.From, a.Query.To))
		if err != nil {
			return err
		}
		q := newQuestion(a, has)
		if q.pending, err = isPending(ctx, tx); err != nil {
			return err
		}
		page, err = runQuestion(ctx, tx, q)
		return err
	})
	return page, err
}

// runQuestion runs the statement of a query.
func runQuestion(ctx context.Context, tx *sql.Tx, q *question) (page record.AnalysisPage, err error) {
	a := q.a
	rows, err := tx.QueryContext(ctx, q.sql(), q.args...)
	if err != nil {
		return page, fmt.Errorf("analyse log rows: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports errors
	for rows.Next() {
		var row record.AnalysisRow
		var bucket int64
		dest := []any{&page.Total, &bucket, &row.Value}
		for _, f := range q.columns {
			dest = append(dest, f.into(&row.Metrics))
		}
		if err := rows.Scan(dest...); err != nil {
			return page, fmt.Errorf("read analysis: %w", err)
		}
		if a.Step > 0 {
			row.Start = a.BucketStart(bucket)
		}
		row.First, row.Last = row.First.UTC(), row.Last.UTC()
		page.Rows = append(page.Rows, row)
	}
	if err := rows.Err(); err != nil {
		return page, fmt.Errorf("read analysis: %w", err)
	}
	a.Complete(&page)
	return page, nil
}

// usable returns the slots inside a time span, and hours that extend beyond its ends, with the
// kinds of rollups of each. It returns none if the span has so few rows that reading them is as
// fast.
func (d *queries) usable(ctx context.Context, db querier, window span) (map[bucket]rollupKind, error) {
	has := map[bucket]rollupKind{}
	var finest, rows int64
	err := eachSlot(ctx, db, window.hours().condition("start"), func(s bucket, k rollupKind, n int64) {
		inside := window.from <= s.start && s.end() <= window.to
		if inside || s.rollupLevel == byHours {
			has[s] = k
		}
		if inside && s.rollupLevel <= byHours {
			finest += n
		}
		if inside {
			rows = max(rows, n)
		}
	})
	if err != nil || max(finest, rows) < d.exactBelow {
		return nil, err
	}
	return has, nil
}
