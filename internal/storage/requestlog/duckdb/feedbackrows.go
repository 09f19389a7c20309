package duckdb

import (
	"context"
	"database/sql"
	"fmt"
)

// feedbackColumns are the columns of attempts that the table of rows with feedback has.
const feedbackColumns = "started, series, trace_id, status, retries, bytes_in, metadata, extra, end_user, prompt_slug"

// voices selects the feedback of traces that a condition selects, one row for each score.
const voices = `SELECT org_id, workspace_id, trace_id, value AS score, count(*) AS score_feedbacks, sum(value * weight) AS score_weighted,
sum(count(*)) OVER of_trace AS feedbacks, sum(sum(value * weight)) OVER of_trace AS weighted, value = min(value) OVER of_trace AS lead
FROM feedback WHERE %s GROUP BY org_id, workspace_id, trace_id, value WINDOW of_trace AS (PARTITION BY org_id, workspace_id, trace_id)`

// feedbackRowsSQL copies rows with feedback into the feedback table. rows is the condition on
// attempts, traces the condition on feedback. Whether a row shares its trace is determined
// afterwards. Tables are joined one by one: a plan for all of them at once may hold every attempt
// in memory.
func feedbackRowsSQL(rows, traces string) []string {
	return []string{
		"CREATE OR REPLACE TEMP TABLE said AS " + fmt.Sprintf(voices, traces),
		"CREATE OR REPLACE TEMP TABLE found AS SELECT " + feedbackColumns + " FROM attempts WHERE trace_id IN (SELECT trace_id FROM said) AND " + rows,
		"INSERT INTO heard BY NAME SELECT " + feedbackColumns + ", score, score_feedbacks, score_weighted, feedbacks, weighted, lead, true AS alone" +
			" FROM found JOIN (SELECT id AS series, org_id, workspace_id FROM series) USING (series) JOIN said USING (org_id, workspace_id, trace_id)",
		"DROP TABLE said",
		"DROP TABLE found",
	}
}

// markSharedTracesSQL marks rows with feedback that share their trace. Rows of the condition are
// new; earlier rows that were the only ones of their traces may now share them.
func markSharedTracesSQL(fresh string) string {
	return "UPDATE heard SET alone = false WHERE alone AND trace_id IN (SELECT trace_id FROM heard WHERE lead AND trace_id IN (SELECT trace_id FROM heard WHERE " + fresh + ")" +
		" GROUP BY trace_id HAVING count(*) > 1)"
}

// addFeedback adds the rows with feedback of hours to their table.
func (b *builder) addFeedback(ctx context.Context) error {
	b.kinds |= feedbackRows
	condition := spansCondition("started", b.spans)
	if b.again {
		if err := b.exec(ctx, "DELETE FROM heard WHERE "+condition); err != nil {
			return err
		}
	}
	for _, statement := range append(feedbackRowsSQL(condition, "trace_id IN (SELECT trace_id FROM attempts WHERE "+condition+")"), markSharedTracesSQL(condition)) {
		if err := b.exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
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

// maxTracesPerUpdate limits the traces, and so the memory, of one transaction.
const maxTracesPerUpdate = 100_000

// updatePendingTraces updates the rows of pending traces in the hours whose rows with feedback
// are stored. It reports whether more traces are pending. An hour that loses its slot meanwhile
// is computed again.
func (d *feedbackTable) updatePendingTraces(ctx context.Context) (more bool, err error) {
	is, err := isPending(ctx, d.sql)
	if err == nil && is {
		err = d.checkDiskSpace()
	}
	if err != nil || !is {
		return false, err
	}
	tx, err := d.sql.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	var hours []bucket
	if err := eachSlot(ctx, tx, fmt.Sprintf("level = %d AND kinds & %d > 0", byHours, feedbackRows), func(s bucket, _ rollupKind, _ int64) { hours = append(hours, s) }); err != nil {
		return false, err
	}
	const waits = "trace_id IN (SELECT trace_id FROM settling)"
	statements := []string{
		fmt.Sprintf("CREATE OR REPLACE TEMP TABLE settling AS SELECT DISTINCT trace_id FROM pending_traces LIMIT %d", maxTracesPerUpdate),
		"DELETE FROM heard WHERE " + waits,
	}
	statements = append(statements, feedbackRowsSQL(spansCondition("started", coverOf(span{ever, never}, hours).slots[byHours]), waits)...)
	statements = append(statements, markSharedTracesSQL(waits), "DELETE FROM pending_traces WHERE "+waits, "DROP TABLE settling")
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return false, err
		}
	}
	if more, err = isPending(ctx, tx); err != nil {
		return false, err
	}
	return more, tx.Commit()
}
