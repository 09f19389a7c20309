package sqlstore

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
)

// Insert adds a record as version 1, whatever r.Version is. A zero Created or Updated means now.
// It returns Conflict if its id, slug or a unique index entry exists, and InvalidRequest or
// TooLarge if a field cannot be stored.
func (t *tx) Insert(ctx context.Context, r resource.Record) error {
	return t.step(ctx, "insert "+r.Kind, func(ctx context.Context, _ bun.IDB) error {
		r.Version = 1
		row, err := rowOf(r)
		if err != nil {
			return err
		}
		entries, err := entries(r)
		if err != nil {
			return err
		}
		t.change(r.Kind, r.ID, false)
		return t.all(ctx, append([]statement{inserted("records", recordColumns, row.values())}, entries...)...)
	})
}

// Update replaces a record whose present version is r.Version. It increments the version and
// stores the old body as a past version. Created does not change; a zero Updated means now. It
// returns NotFound if the record does not exist, and Conflict if its version differs.
func (t *tx) Update(ctx context.Context, r resource.Record) error {
	return t.step(ctx, "update "+r.Kind, func(ctx context.Context, _ bun.IDB) error {
		row, err := rowOf(r)
		if err != nil {
			return err
		}
		entries, err := entries(r)
		if err != nil {
			return err
		}
		if err := t.lockVersion(ctx, r); err != nil {
			return err
		}
		row.Version++
		t.change(r.Kind, r.ID, false)
		return t.all(ctx, append([]statement{
			{copyVersionSQL, []any{r.Kind, r.ID}},
			{updateRecord, []any{row.OrgID, row.WorkspaceID, row.Slug, row.Name, row.NameFolded, row.Status, row.Version, row.UpdatedMS, row.Body, r.Kind, r.ID}},
			dropEntries(r.Kind, r.ID),
		}, entries...)...)
	})
}

const (
	// copyVersionSQL copies a record to its past versions.
	copyVersionSQL = "INSERT INTO record_versions (" + recordColumns + ") SELECT " + recordColumns + " FROM records WHERE kind = ? AND id = ?"
	// updateRecord replaces all columns of a record except its creation time.
	updateRecord = "UPDATE records SET org_id = ?, workspace_id = ?, slug = ?, name = ?, name_folded = ?, status = ?, version = ?, updated_ms = ?, body = ?" +
		" WHERE kind = ? AND id = ?"
)

// lockVersion locks the record until the end of the transaction and compares versions, so that
// the later of two updates fails.
func (t *tx) lockVersion(ctx context.Context, r resource.Record) error {
	present, err := t.locked(ctx, r.Kind, r.ID)
	if err != nil {
		return err
	}
	if present != r.Version {
		return fault.Newf(fault.Conflict, "concurrent change: version %d is now %d; reload the resource and retry", r.Version, present).WithCause(resource.ErrMoved)
	}
	return nil
}

// Delete removes a record with its past versions, its index entries and all links from and to it.
// It returns NotFound if the record does not exist.
func (t *tx) Delete(ctx context.Context, kind, id string) error {
	return t.step(ctx, "delete "+kind, func(ctx context.Context, db bun.IDB) error {
		res, err := db.NewDelete().Table("records").Where("kind = ?", kind).Where("id = ?", id).Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return orNoRows(err)
		}
		t.change(kind, id, true)
		return t.all(ctx,
			statement{"DELETE FROM record_versions WHERE kind = ? AND id = ?", []any{kind, id}},
			dropEntries(kind, id),
			statement{"DELETE FROM record_links WHERE from_id = ? OR to_id = ?", []any{id, id}},
		)
	})
}

// entries returns the statements that add the index entries of a record.
func entries(r resource.Record) ([]statement, error) {
	rows, err := indexRows(r)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	values := make([][]any, len(rows))
	for i, row := range rows {
		values[i] = []any{row.Kind, row.ID, row.Name, row.Value, row.UniqueValue}
	}
	return []statement{inserted("record_index", indexColumns, values...)}, nil
}

func dropEntries(kind, id string) statement {
	return statement{"DELETE FROM record_index WHERE kind = ? AND id = ?", []any{kind, id}}
}

func orNoRows(err error) error {
	if err != nil {
		return err
	}
	return sql.ErrNoRows
}
