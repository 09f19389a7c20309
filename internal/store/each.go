package store

import (
	"context"
	"database/sql"
	"time"

	"sluice/internal/resource"
)

// ofEach is what Each reads of records.
const ofEach = "SELECT r.kind, r.id, r.org_id, r.workspace_id, r.slug, r.name, r.status, r.version, r.created_ms, r.updated_ms, r.body FROM records AS r"

// Each hands f all records that match, ordered by id and without index entries. It is for
// many of them: Limit is how many are read at once, Offset and Newest are ignored. The
// body of a record is f's until f returns. Where a connection died a page is read again,
// so f may get a record twice; and f may have got some when Each fails, as List does. As
// long as f runs it holds a connection, so it must not ask the store.
func (r reads) Each(ctx context.Context, q resource.Query, f func(resource.Record)) error {
	limit, err := pageSize(q.Limit)
	if err != nil {
		return err
	}
	q.Newest = false
	for {
		n := int64(0)
		s := statement{text: ofEach}
		s.filter(q)
		s.onwards(q)
		s.limit(" ORDER BY r.id", limit)
		err := r.runStep(ctx, "read all of "+q.Kind, func(ctx context.Context) error {
			n = 0
			return r.eachLine(ctx, s, func(rec resource.Record) {
				n++
				q.After = rec.ID
				f(rec)
			})
		})
		if err != nil || n < limit {
			return err
		}
	}
}

// eachLine hands f the records of a statement. Their texts are as the driver made them,
// and the body stands where the next one will stand.
func (r reads) eachLine(ctx context.Context, s statement, f func(resource.Record)) error {
	var rec resource.Record
	var slug sql.NullString
	var created, updated int64
	var body sql.RawBytes
	targets := []any{
		&rec.Kind, &rec.ID, &rec.OrgID, &rec.WorkspaceID, &slug, &rec.Name, &rec.Status, &rec.Version, &created, &updated, &body,
	}
	return r.ask(ctx, s, func(line *sql.Rows) error {
		if err := line.Scan(targets...); err != nil {
			return err
		}
		rec.Slug, rec.Body = slug.String, body
		rec.Created, rec.Updated = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
		f(rec)
		return nil
	})
}
