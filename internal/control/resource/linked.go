package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// PutLinked inserts a record that belongs to the change of another one and refers to it, for
// example the default provider of an integration. PutLinked sets kind, times and status; the
// caller sets the owner and the slug.
func (k *Kind[T, V]) PutLinked(ctx context.Context, tx Tx, c *Call, r *Row[T], to Record) error {
	r.Kind, r.Status, r.Version, r.Created, r.Updated = k.Name, Active, 1, c.Now, c.Now
	rec, err := k.encoded(r)
	if err != nil {
		return err
	}
	rec.Index = append(rec.Index, IndexEntry{Name: refEntry(to.Kind), Value: to.ID})
	return k.conflictError(tx.Insert(ctx, rec), r.Slug)
}

// UpdateLinked changes a record that must follow the change of another one, for example a prompt
// whose label is deleted.
func (k *Kind[T, V]) UpdateLinked(ctx context.Context, tx Tx, c *Call, rec Record, f func(*T)) error {
	r, err := Decode[T](rec)
	if err != nil {
		return err
	}
	f(&r.Value)
	r.Updated = c.Now
	if rec, err = k.stored(ctx, c, r); err != nil {
		return err
	}
	return tx.Update(ctx, rec)
}

// ArchiveLinked archives a record together with another one.
func ArchiveLinked(ctx context.Context, tx Tx, c *Call, r Record) error {
	releaseSlug(&r, r.ShownSlug())
	r.Status, r.Updated = Archived, c.Now
	return tx.Update(ctx, r)
}

// bodyReader is a type that decodes its stored body faster than the JSON decoder. It does not
// retain the body.
type bodyReader interface{ ReadBody(body []byte) error }

// Decode decodes the body of a record into its type. The row does not share mutable data with
// the record.
func Decode[T any](rec Record) (*Row[T], error) {
	r := &Row[T]{Record: rec}
	var err error
	if reader, ok := any(&r.Value).(bodyReader); ok {
		err = reader.ReadBody(rec.Body)
	} else {
		err = json.Unmarshal(rec.Body, &r.Value)
	}
	if err != nil {
		return nil, fmt.Errorf("decode %s %s: %w", rec.Kind, rec.ID, err)
	}
	r.Slug, r.Index = rec.ShownSlug(), slices.Clone(rec.Index)
	return r, nil
}

// ListReferrers lists the live records of a kind that refer to a record, at most 1000. An empty
// workspaceID means all workspaces.
func ListReferrers(ctx context.Context, from Reader, kind string, to Record, workspaceID string) ([]Record, error) {
	return from.List(ctx, Query{
		Kind: kind, OrgID: to.OrgID, WorkspaceID: workspaceID, Statuses: living,
		Index: []IndexEntry{{Name: refEntry(to.Kind), Value: to.ID}}, Limit: maxPageSize,
	})
}

// Content is a kind whose records are inside another record, and its title for texts.
type Content struct{ Kind, Title string }

// DescribeContents describes the contents of a record, of the first kind that has any: "2
// config(s)"; empty for none.
func DescribeContents(ctx context.Context, c *Call, list []Content, inside func(kind string) Query) (string, error) {
	for _, one := range list {
		n, err := c.Reader.Count(ctx, inside(one.Kind))
		if err != nil {
			return "", err
		}
		if n > 0 {
			return fmt.Sprintf("%d %s(s)", n, one.Title), nil
		}
	}
	return "", nil
}

// ArchiveAll archives every record of a query. The query does not find archived records any more,
// so the first page is read until it is empty.
func ArchiveAll(ctx context.Context, tx Tx, c *Call, q Query) error {
	return DrainPages(func() ([]Record, error) { return tx.List(ctx, q) }, func(r Record) error { return ArchiveLinked(ctx, tx, c, r) })
}

// ArchiveReferrers archives the records of a kind that refer to a record that is archived, in one
// workspace or in all.
func ArchiveReferrers(ctx context.Context, tx Tx, kind string, to Record, workspace string, retire func(Record) error) error {
	return DrainPages(func() ([]Record, error) { return ListReferrers(ctx, tx, kind, to, workspace) }, retire)
}
