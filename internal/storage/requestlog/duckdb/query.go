package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
)

// queries reads attempts for pages, single records and analytics.
type queries struct{ *database }

// List implements requestlog.RowStore.
func (d *queries) List(ctx context.Context, q record.Query) (page record.Page, err error) {
	src := timed(q)
	src.others.add(isShown)
	var rows []stored
	err = d.reading(ctx, func(tx *sql.Tx) (err error) {
		if q.Count {
			if page.Total, err = d.count(ctx, tx, q); err != nil {
				return fmt.Errorf("count log rows: %w", err)
			}
		}
		rows, page.Next, err = d.page(ctx, tx, q, src)
		return err
	})
	if err != nil {
		return record.Page{}, err
	}
	page.Rows = make([]record.Attempt, len(rows))
	for i := range rows {
		page.Rows[i] = rows[i].Attempt
		if q.ByArrival {
			page.Arrived = append(page.Arrived, record.CursorAt(rows[i].arrived, rows[i].ID))
		}
	}
	return page, nil
}

// RowWithBody implements requestlog.RowStore.
func (d *queries) RowWithBody(ctx context.Context, q record.Query) (page requestlog.BodiedPage, err error) {
	src := timed(q)
	src.others.add("body_file > 0")
	var rows []stored
	err = d.reading(ctx, func(tx *sql.Tx) (err error) {
		rows, page.Next, err = d.page(ctx, tx, q, src)
		return err
	})
	page.RowStore = make([]requestlog.RowWithBody, len(rows))
	for i := range rows {
		page.RowStore[i] = requestlog.RowWithBody{Attempt: rows[i].Attempt, Ref: rows[i].ref}
	}
	return page, err
}

// Billed implements requestlog.RowStore.
func (d *queries) Billed(ctx context.Context, q record.Query) (page record.BilledPage, err error) {
	src := timed(q)
	src.others.add(isShown)
	src.others.add("spend_state NOT IN ('', 'released')")
	var rows []stored
	err = d.reading(ctx, func(tx *sql.Tx) (err error) {
		rows, page.Next, err = d.page(ctx, tx, q, src)
		return err
	})
	page.Rows = make([]record.Billed, len(rows))
	for i := range rows {
		page.Rows[i] = rows[i].Billed
	}
	return page, err
}

// Find implements requestlog.RowStore.
func (d *queries) Find(ctx context.Context, orgID, workspaceID, id string) (record.Attempt, bodies.Ref, error) {
	found := stored{}
	err := d.reading(ctx, func(tx *sql.Tx) error {
		rows, err := readRows(ctx, tx, " FROM attempts WHERE id = ? AND "+isShown, []any{keyParam(id)})
		if err != nil {
			return err
		}
		i := slices.IndexFunc(rows, func(r stored) bool {
			return r.ID == id && r.OrgID == orgID && (workspaceID == "" || r.WorkspaceID == workspaceID)
		})
		if i < 0 {
			return fault.New(fault.NotFound, "no log has this id")
		}
		found = rows[i]
		return addLateHooks(ctx, tx, &found.Attempt)
	})
	return found.Attempt, found.ref, err
}

// readRows reads the rows that a statement selects, series included. rest begins with FROM.
func readRows(ctx context.Context, tx *sql.Tx, rest string, args []any) ([]stored, error) {
	rows, err := tx.QueryContext(ctx, "SELECT "+rowColumns+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("read log rows: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports errors
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

// fillSeries fills the fields of rows from their series.
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

// joinSeries copies the fields of a series. It does not overwrite a content type of the row.
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
