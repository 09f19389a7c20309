package clickhouse

import (
	"context"
	"fmt"
	"strconv"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
)

// queries reads attempts for pages, single records and analytics.
type queries struct{ *server }

// List implements requestlog.RowStore.
func (d *queries) List(ctx context.Context, q record.Query) (page record.Page, err error) {
	s := filter(q)
	s.add(shown)
	if q.ByArrival {
		s.add(committedSQL)
	}
	if q.Count {
		err := d.ask(ctx, "SELECT count() FROM attempts FINAL"+s.where(), &s.Params, func(scan func(...any) error) error { return scan(&page.Total) })
		if err != nil {
			return record.Page{}, fmt.Errorf("count log rows: %w", err)
		}
	}
	rows, next, err := d.page(ctx, q, s)
	if err != nil {
		return record.Page{}, err
	}
	page.Rows, page.Next = make([]record.Attempt, len(rows)), next
	for i := range rows {
		page.Rows[i] = rows[i].Attempt
		if q.ByArrival {
			page.Arrived = append(page.Arrived, record.CursorAt(rows[i].arrived, rows[i].ID))
		}
	}
	return page, nil
}

// shown is the condition of rows that are not only in metrics.
const shown = "NOT blank"

// RowWithBody implements requestlog.RowStore. It includes bodies of other nodes.
func (d *queries) RowWithBody(ctx context.Context, q record.Query) (requestlog.BodiedPage, error) {
	s := filter(q)
	s.add(shown + " AND body_file > 0")
	rows, next, err := d.page(ctx, q, s)
	page := requestlog.BodiedPage{RowStore: make([]requestlog.RowWithBody, len(rows)), Next: next}
	for i := range rows {
		page.RowStore[i] = requestlog.RowWithBody{Attempt: rows[i].Attempt, Ref: rows[i].ref}
	}
	return page, err
}

// Billed implements requestlog.RowStore. It returns only the attempts of this node: this node
// cannot see what others do to theirs meanwhile, and budgets must not be corrected twice.
func (d *queries) Billed(ctx context.Context, q record.Query) (record.BilledPage, error) {
	s := filter(q)
	s.add(shown)
	s.add("spend_state NOT IN ('', 'released')")
	s.is("node", d.o.Node)
	rows, next, err := d.page(ctx, q, s)
	page := record.BilledPage{Rows: make([]record.Billed, len(rows)), Next: next}
	for i := range rows {
		page.Rows[i] = rows[i].Billed
	}
	return page, err
}

// page reads the rows of a page, and the start of the next one.
func (d *queries) page(ctx context.Context, q record.Query, s *selection) ([]stored, record.Cursor, error) {
	if err := s.after(q); err != nil {
		return nil, "", err
	}
	if !q.ByArrival {
		if err := d.narrow(ctx, &q, s); err != nil {
			return nil, "", err
		}
	}
	order := " ORDER BY " + requestlog.ListOrder(&q)
	size := q.PageSize()
	// Rows are wide, and sorting them needs few columns, so the other columns are read only for
	// the rows on the page.
	keys := "SELECT workspace_id, started, id FROM attempts FINAL" + s.where() + order +
		" LIMIT " + strconv.Itoa(size+1) + " OFFSET " + strconv.Itoa(max(q.Offset, 0))
	rows, err := d.rows(ctx, " WHERE org_id = "+s.Text(q.OrgID)+" AND (workspace_id, started, id) IN ("+keys+")"+order, s)
	if err != nil || len(rows) <= size { // an additional row means that there is a next page
		return rows, "", err
	}
	rows = rows[:size]
	last := &rows[size-1]
	if q.ByArrival {
		return rows, record.CursorAt(last.arrived, last.ID), nil
	}
	return rows, record.CursorAt(last.Started, last.ID), nil
}

// Find implements requestlog.RowStore.
func (d *queries) Find(ctx context.Context, orgID, workspaceID, id string) (record.Attempt, bodies.Ref, error) {
	s := new(selection)
	s.add("org_id = " + s.Text(orgID))
	s.is("workspace_id", workspaceID)
	s.add("id = " + s.Text(id) + " AND " + shown)
	rows, err := d.rows(ctx, s.where()+" LIMIT 1", s)
	if err != nil {
		return record.Attempt{}, bodies.Ref{}, err
	}
	if len(rows) == 0 {
		return record.Attempt{}, bodies.Ref{}, fault.New(fault.NotFound, "no log has this id")
	}
	return rows[0].Attempt, rows[0].ref, d.addLateHooks(ctx, &rows[0].Attempt)
}

// rows reads the rows that a statement selects. rest begins with WHERE.
func (d *queries) rows(ctx context.Context, rest string, s *selection) (out []stored, err error) {
	err = d.ask(ctx, "SELECT "+readable+" FROM attempts FINAL"+rest, &s.Params, func(read func(...any) error) error {
		row, err := scan(d.o.Node, read)
		out = append(out, row)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read log rows: %w", err)
	}
	return out, nil
}
