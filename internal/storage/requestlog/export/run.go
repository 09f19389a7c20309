package export

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
)

// run is an export in progress.
type run struct {
	*Runner
	id, orgID, workspaceID string
	order                  record.Export
}

// work writes the file, starting at the mark of the run, and returns its size. An error that is a
// cause ends the run; after another error the next turn continues.
func (r *run) work(ctx context.Context) (size int64, err error) {
	if err := r.count(ctx); err != nil {
		return 0, err
	}
	shape := Shape{
		Columns: r.Columns(r.order.Fields), Format: cmp.Or(r.order.Format, record.ExportJSONL), Compression: cmp.Or(r.order.Compression, record.ExportPlain),
	}
	w, err := r.Files.write(r.id, shape, r.order.Run.Mark, r.PartBytes)
	if err != nil {
		return 0, r.disk(err)
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := r.copy(ctx, w); err != nil {
		return 0, err
	}
	if size, err = w.finish(); err != nil {
		return 0, r.disk(err)
	}
	if r.ObjectStore == nil {
		return size, nil
	}
	return size, r.ObjectStore.put(ctx, r.id, r.order.Run.ID, w.file, size) // while the bucket is unavailable the run waits
}

// query selects the rows of the export, those that started before the export did.
func (r *run) query() record.Query {
	q := r.order.Filters.Query(r.orgID, r.workspaceID)
	q.UserID, q.Limit = r.order.Run.Only, record.MaxLimit
	if end := r.order.Run.Started; q.To.IsZero() || end.Before(q.To) {
		q.To = end
	}
	return q
}

// count counts the rows of the export once.
func (r *run) count(ctx context.Context) error {
	if r.order.Run.Counted {
		return nil
	}
	q := r.query()
	q.Limit, q.Count = 1, true
	page, err := r.Logs.List(ctx, q)
	if err != nil {
		return r.log(ctx, err)
	}
	offset, limit := r.order.Filters.Page()
	total := min(max(page.Total-offset, 0), limit)
	r.order.Run.Total, r.order.Run.Counted = total, true
	return r.change(ctx, r.id, r.order.Run.ID, func(_ *resource.Record, e *record.Export) { e.Run.Total, e.Run.Counted = total, true })
}

// copy copies the rows to the file, page by page.
func (r *run) copy(ctx context.Context, w *writer) error {
	bodies := slices.ContainsFunc(w.columns, func(c record.ExportColumn) bool { return c.Bodies })
	q := r.query()
	offset, limit := r.order.Filters.Page()
	for q.After = w.mark.Cursor; w.next.Rows < limit; q.After = w.next.Cursor {
		if q.Offset = 0; q.After == "" {
			q.Offset = int(offset)
		}
		q.Limit = int(min(record.MaxLimit, limit-w.next.Rows))
		page, err := r.Logs.List(ctx, q)
		if err != nil {
			return r.log(ctx, err)
		}
		for i := range page.Rows {
			if err := r.row(ctx, w, &page.Rows[i], bodies); err != nil {
				return err
			}
		}
		if err := r.cut(ctx, w); err != nil {
			return err
		}
		if page.Next == "" {
			return nil
		}
	}
	return nil
}

// row adds a row to the file, with its bodies if requested; it omits bodies that were deleted
// meanwhile.
func (r *run) row(ctx context.Context, w *writer, a *record.Attempt, bodies bool) error {
	if bodies {
		complete, err := r.Logs.Find(ctx, a.OrgID, a.WorkspaceID, a.ID)
		switch {
		case err == nil:
			a = &complete
		case !fault.Has(err, fault.NotFound):
			return r.log(ctx, err)
		}
	}
	if err := w.add(a); err != nil {
		return &cause{"cannot write a row in this format", err}
	}
	if w.full() {
		return r.cut(ctx, w)
	}
	return nil
}

// cut ends a part of the file and stores the progress of the run.
func (r *run) cut(ctx context.Context, w *writer) error {
	before := w.mark
	mark, err := w.cut()
	if err != nil {
		return r.disk(err)
	}
	if mark == before {
		return nil
	}
	r.rows.Add(mark.Rows - before.Rows)
	return r.change(ctx, r.id, r.order.Run.ID, func(_ *resource.Record, e *record.Export) { e.Run.Mark = mark })
}
