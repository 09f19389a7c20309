package duckdb

import (
	"context"
	"database/sql"
	"fmt"
)

// heardColumns are those that the table of judged rows has of attempts.
const heardColumns = "started, series, trace_id, status, retries, bytes_in, metadata, extra, end_user, prompt_slug"

// voices is what feedback says of traces that a condition selects, once for each score.
const voices = `SELECT org_id, workspace_id, trace_id, value AS score, count(*) AS score_feedbacks, sum(value * weight) AS score_weighted,
sum(count(*)) OVER of_trace AS feedbacks, sum(sum(value * weight)) OVER of_trace AS weighted, value = min(value) OVER of_trace AS lead
FROM feedback WHERE %s GROUP BY org_id, workspace_id, trace_id, value WINDOW of_trace AS (PARTITION BY org_id, workspace_id, trace_id)`

// hearing puts the judged ones of some rows into their table: rows is the condition on attempts,
// traces that on feedback. That a row has company is found out behind it.
func hearing(rows, traces string) string {
	return "INSERT INTO heard BY NAME SELECT " + heardColumns + ", score, score_feedbacks, score_weighted, feedbacks, weighted, lead, true AS alone" +
		" FROM (SELECT " + heardColumns + " FROM attempts WHERE " + rows + ") JOIN (SELECT id AS series, org_id, workspace_id FROM series) USING (series)" +
		" JOIN (" + fmt.Sprintf(voices, traces) + ") USING (org_id, workspace_id, trace_id)"
}

// accompany notes which judged rows are not the only ones of their trace. Rows of a condition
// are new; those of their traces that were alone before them may have become some of several.
func accompany(fresh string) string {
	return "UPDATE heard SET alone = false WHERE alone AND trace_id IN (SELECT trace_id FROM heard WHERE lead AND trace_id IN (SELECT trace_id FROM heard WHERE " + fresh + ")" +
		" GROUP BY trace_id HAVING count(*) > 1)"
}

// hear puts the judged rows of hours into their table.
func (b *builder) hear(ctx context.Context) error {
	b.kinds |= heard
	in := within("started", b.spans)
	if b.again {
		if err := b.exec(ctx, "DELETE FROM heard WHERE "+in); err != nil {
			return err
		}
	}
	if err := b.exec(ctx, hearing(in, "trace_id IN (SELECT trace_id FROM attempts WHERE "+in+")")); err != nil {
		return err
	}
	return b.exec(ctx, accompany(in))
}

// isPending reports whether traces wait for their rows to be found.
func isPending(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (is bool, err error) {
	if err := db.QueryRowContext(ctx, "SELECT count(*) > 0 FROM pending_traces").Scan(&is); err != nil {
		return false, fmt.Errorf("read judged traces: %w", err)
	}
	return is, nil
}

// settleTraces brings the rows of the traces that wait up to date, in the hours whose judged rows
// are known. An hour that loses its slot meanwhile is worked out again.
func (d *DB) settleTraces(ctx context.Context) error {
	is, err := isPending(ctx, d.sql)
	if err == nil && is {
		err = d.room()
	}
	if err != nil || !is {
		return err
	}
	tx, err := d.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	var hours []slot
	if err := eachSlot(ctx, tx, fmt.Sprintf("level = %d AND kinds & %d > 0", byHours, heard), func(s slot, _ kind, _ int64) { hours = append(hours, s) }); err != nil {
		return err
	}
	const waits = "trace_id IN (SELECT trace_id FROM settling)"
	for _, statement := range []string{
		"CREATE OR REPLACE TEMP TABLE settling AS SELECT DISTINCT trace_id FROM pending_traces",
		"DELETE FROM heard WHERE " + waits,
		hearing(waits+" AND "+within("started", coverOf(span{ever, never}, hours).slots[byHours]), waits),
		accompany(waits),
		"DELETE FROM pending_traces",
		"DROP TABLE settling",
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return tx.Commit()
}
