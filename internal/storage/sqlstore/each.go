package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"sluice/internal/control/resource"
)

// ofEach selects the columns that Each reads.
const ofEach = "SELECT r.kind, r.id, r.org_id, r.workspace_id, r.slug, r.name, r.status, r.version, r.created_ms, r.updated_ms, r.body FROM records AS r"

// Each calls f with every record that matches, ordered by id and without index entries. It is
// meant for many records: Limit is the number read at once; Offset and Newest are ignored. f may
// use the body of a record until it returns. If a connection dies, a page is read again, so f may
// receive a record twice. As with List, f may have received records when Each fails. While f runs
// it holds a connection, so f must not call the store.
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

// eachLine calls f with the records of a statement. Their strings are as the driver made them,
// and the next record reuses the body's memory.
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
