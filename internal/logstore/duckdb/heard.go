package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// heardColumns are those of the table of judged rows.
const heardColumns = "started, series, trace_id, status, retries, bytes_in, metadata, extra, end_user, prompt_slug"

// pendingTraces are traces with feedback whose rows are not in the table of judged rows.
const pendingTraces = "(SELECT trace_id FROM pending_traces WHERE trace_id NOT IN (SELECT trace_id FROM judged_traces))"

// heardRows are all judged rows of a time, and others: from their table where slots say that
// they are there, from the log itself where not. pending tells whether there are traces that
// wait.
func heardRows(c *cover, pending bool) string {
	parts := []string{"SELECT " + heardColumns + " FROM " + spanned("heard", "started", c.slots[byHours])}
	if len(c.rows) > 0 {
		parts = append(parts, "SELECT "+heardColumns+" FROM "+spanned("attempts", "started", c.rows))
	}
	if pending {
		parts = append(parts, "SELECT "+heardColumns+" FROM "+spanned("attempts", "started", c.slots[byHours])+" WHERE trace_id IN "+pendingTraces)
	}
	return strings.Join(parts, " UNION ALL ")
}

// hear puts the judged rows of hours into their table.
func (b *builder) hear(ctx context.Context) error {
	b.kinds |= heard
	if b.again {
		if err := b.exec(ctx, "DELETE FROM heard WHERE "+within("started", b.spans)); err != nil {
			return err
		}
	}
	return b.exec(ctx, "INSERT INTO heard SELECT "+heardColumns+" FROM attempts WHERE trace_id IN (SELECT trace_id FROM judged_traces) AND "+within("started", b.spans))
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

// settleTraces finds the rows of the traces that wait, in the hours whose judged rows are
// known. An hour that loses its slot meanwhile is worked out again, with these traces.
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
	known := coverOf(span{ever, never}, hours).slots[byHours]
	for _, statement := range []string{
		"CREATE OR REPLACE TEMP TABLE settling AS SELECT DISTINCT trace_id FROM " + pendingTraces,
		"INSERT INTO heard SELECT " + heardColumns + " FROM attempts WHERE trace_id IN (SELECT trace_id FROM settling) AND " + within("started", known),
		"INSERT INTO judged_traces SELECT trace_id FROM settling",
		"DELETE FROM pending_traces",
		"DROP TABLE settling",
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return tx.Commit()
}
