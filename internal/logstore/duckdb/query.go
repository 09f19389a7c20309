package duckdb

import (
	"context"
	"database/sql"
	"fmt"

	"sluice/internal/fault"
	"sluice/internal/logstore"
	"sluice/internal/logstore/bodies"
	"sluice/internal/record"
)

// List implements logstore.Rows.
func (d *DB) List(ctx context.Context, q record.Query) (record.Page, error) {
	var page record.Page
	src := timed(q)
	src.others.add(isShown)
	if q.Count {
		if err := d.sql.QueryRowContext(ctx, "SELECT count(*)"+src.sql(), src.args()...).Scan(&page.Total); err != nil {
			return record.Page{}, fmt.Errorf("count log rows: %w", err)
		}
	}
	rows, next, err := d.page(ctx, q, src)
	page.Rows, page.Next = make([]record.Attempt, len(rows)), next
	for i := range rows {
		page.Rows[i] = rows[i].Attempt
		if q.ByArrival {
			page.Arrived = append(page.Arrived, record.CursorAt(rows[i].arrived, rows[i].ID))
		}
	}
	return page, err
}

// Bodied implements logstore.Rows.
func (d *DB) Bodied(ctx context.Context, q record.Query) (logstore.BodiedPage, error) {
	src := timed(q)
	src.others.add("body_file > 0")
	rows, next, err := d.page(ctx, q, src)
	page := logstore.BodiedPage{Rows: make([]logstore.Bodied, len(rows)), Next: next}
	for i := range rows {
		page.Rows[i] = logstore.Bodied{Attempt: rows[i].Attempt, Ref: rows[i].ref}
	}
	return page, err
}

// Billed implements logstore.Rows.
func (d *DB) Billed(ctx context.Context, q record.Query) (record.BilledPage, error) {
	src := timed(q)
	src.others.add(isShown)
	src.others.add("spend_state NOT IN ('', 'released')")
	rows, next, err := d.page(ctx, q, src)
	page := record.BilledPage{Rows: make([]record.Billed, len(rows)), Next: next}
	for i := range rows {
		page.Rows[i] = rows[i].Billed
	}
	return page, err
}

// page reads the rows of a page, and where the next one begins.
func (d *DB) page(ctx context.Context, q record.Query, src *source) ([]stored, record.Cursor, error) {
	if err := src.others.after(q); err != nil {
		return nil, "", err
	}
	order := " ORDER BY started, id"
	switch {
	case q.ByArrival:
		order = " ORDER BY arrived, id"
	case q.Newest:
		order = " ORDER BY started DESC, id DESC"
	}
	size := q.PageSize()
	// Rows are wide, and to sort them takes few of their columns: the others are read of
	// those alone that are on the page.
	page := " FROM attempts WHERE rowid IN (SELECT attempts.rowid" + src.sql() + order + " LIMIT ? OFFSET ?)" + order
	rows, err := d.rows(ctx, page, append(src.args(), size+1, max(q.Offset, 0)))
	if err != nil || len(rows) <= size { // one more than asked tells that there is a next page
		return rows, "", err
	}
	rows = rows[:size]
	last := &rows[size-1]
	if q.ByArrival {
		return rows, record.CursorAt(last.arrived, last.ID), nil
	}
	return rows, record.CursorAt(last.Started, last.ID), nil
}

// Find implements logstore.Rows.
func (d *DB) Find(ctx context.Context, orgID, workspaceID, id string) (record.Attempt, bodies.Ref, error) {
	rows, err := d.rows(ctx, " FROM attempts WHERE id = ? AND "+isShown, []any{keyParam(id)})
	if err != nil {
		return record.Attempt{}, bodies.Ref{}, err
	}
	for _, r := range rows {
		if r.ID == id && r.OrgID == orgID && (workspaceID == "" || r.WorkspaceID == workspaceID) {
			return r.Attempt, r.ref, nil
		}
	}
	return record.Attempt{}, bodies.Ref{}, fault.New(fault.NotFound, "there is no log with this id")
}

// rows reads the rows that a statement selects, given from FROM on, series included.
func (d *DB) rows(ctx context.Context, rest string, args []any) ([]stored, error) {
	tx, err := d.sql.BeginTx(ctx, &sql.TxOptions{})
	if err != nil {
		return nil, fmt.Errorf("read log rows: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // it only read
	rows, err := tx.QueryContext(ctx, "SELECT "+rowColumns+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("read log rows: %w", err)
	}
	defer func() { _ = rows.Close() }() // Err below tells
	var out []stored
	for rows.Next() {
		s, err := scanRow(rows.Scan)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read log rows: %w", err)
	}
	return out, fillSeries(ctx, tx, out)
}

// fillSeries puts the fields of their series into rows.
func fillSeries(ctx context.Context, db querier, rows []stored) error {
	if len(rows) == 0 {
		return nil
	}
	byID := map[int32][]*record.Attempt{}
	var args []any
	for i := range rows {
		id := rows[i].series
		if byID[id] == nil {
			args = append(args, id)
		}
		byID[id] = append(byID[id], &rows[i].Attempt)
	}
	return eachSeries(ctx, db, "id IN ("+marks(len(args))+")", args, func(id int32, s *record.Attempt) {
		for _, a := range byID[id] {
			joinSeries(a, s)
		}
	})
}

// joinSeries copies the fields of a series; a content type that the row has itself
// stays.
func joinSeries(a, series *record.Attempt) {
	request, response := a.Request.Type, a.Response.Type
	to, toFlags := seriesOf(a)
	from, fromFlags := seriesOf(series)
	for i := range to {
		*to[i] = *from[i]
	}
	for i := range toFlags {
		*toFlags[i] = *fromFlags[i]
	}
	if request != "" {
		a.Request.Type = request
	}
	if response != "" {
		a.Response.Type = response
	}
}
