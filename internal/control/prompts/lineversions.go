package prompts

import (
	"context"
	"strconv"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/kernel/fault"
)

// Versions of prompts and of partials are stored in the same way: each is a record that is found
// by the id of its prompt or partial, and by its number.
const (
	entryLine   = "line"   // id of the prompt or partial
	entryNumber = "number" // the id and the number
)

func versionsOf(kind, lineID string) resource.Query {
	return resource.Query{
		Kind: kind, Statuses: []string{resource.Active}, Limit: 1000, Newest: true,
		Index: []resource.IndexEntry{{Name: entryLine, Value: lineID}},
	}
}

func numberEntry(lineID string, number int) resource.IndexEntry {
	return resource.IndexEntry{Name: entryNumber, Value: lineID + "/" + strconv.Itoa(number), Unique: true}
}

// findVersion reads a version by its number. It returns fault.NotFound if there is none.
func findVersion[T any](ctx context.Context, from resource.Reader, kind, lineID string, number int) (*resource.Row[T], error) {
	if number > 0 {
		rows, err := resource.ListRows[T](ctx, from, resource.Query{Kind: kind, Index: []resource.IndexEntry{numberEntry(lineID, number)}, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(rows) == 1 {
			return rows[0], nil
		}
	}
	return nil, fault.New(fault.NotFound, "the version does not exist; list the versions with GET …/versions")
}

// insertVersion writes a new version of a prompt or partial.
func insertVersion(ctx context.Context, tx resource.Tx, c *resource.Call, owner resource.Record, kind, id string, number int, body any) error {
	return tx.Insert(ctx, resource.Record{
		Kind: kind, ID: id, OrgID: owner.OrgID, WorkspaceID: owner.WorkspaceID, Status: resource.Active, Version: 1, Created: c.Now, Updated: c.Now,
		Body: jsonfield.Encode(body), Index: []resource.IndexEntry{{Name: entryLine, Value: owner.ID}, numberEntry(owner.ID, number)},
	})
}

// rewriteVersion changes the notes of a version.
func rewriteVersion(ctx context.Context, tx resource.Tx, c *resource.Call, kind, id string, body any) error {
	rec, err := tx.Find(ctx, kind, id)
	if err != nil {
		return err
	}
	rec.Body, rec.Updated = jsonfield.Encode(body), c.Now
	return tx.Update(ctx, rec)
}

// versionPaging returns the parameters of a list of versions.
func versionPaging() []resource.Param {
	return []resource.Param{
		{Name: "search", Doc: "part of the description, or the number", MaxLength: 255},
		{Name: "current_page", Doc: "Page number, starting at 0", Type: "integer", Default: "0", Max: 1_000_000},
		{Name: "page_size", Doc: "Rows per page; fewer if the page would exceed 8 MiB", Type: "integer", Default: "100", Min: 1, Max: 1000},
	}
}

// Limits of a page of versions after its first row, and of one read: texts have up to half a
// megabyte. Clients use smaller pages to get what a large page leaves out.
const (
	maxVersionBytes = 8 << 20
	versionsAtOnce  = 16
)

// listedVersions returns a page of the versions of a prompt or partial, newest first. matches
// returns the texts of a version that the parameter search searches.
func listedVersions[T, V any](ctx context.Context, c *resource.Call, kind, lineID string, matches func(*T) []string, view func(*resource.Row[T]) V) (any, error) {
	q := versionsOf(kind, lineID)
	total, err := c.Reader.Count(ctx, q)
	if err != nil {
		return nil, err
	}
	out := resource.ListOf[V]{Object: "list", Total: total, Data: []V{}}
	text := strings.ToLower(c.Query("search"))
	if text == "" {
		versionPage(c, &q)
		err := eachVersion(ctx, c, q, func(r *resource.Row[T], bytes int) bool {
			if bytes > maxVersionBytes && len(out.Data) > 0 {
				return false
			}
			out.Data = append(out.Data, view(r))
			return true
		})
		return out, err
	}
	var page resource.Query
	versionPage(c, &page)
	out.Total = 0
	for q.Offset = 0; q.Offset < total; q.Offset += q.Limit {
		err := eachVersion(ctx, c, q, func(r *resource.Row[T], _ int) bool {
			if !listing.HasText(text, matches(&r.Value)...) {
				return true
			}
			if out.Total >= page.Offset && len(out.Data) < page.Limit {
				out.Data = append(out.Data, view(r))
			}
			out.Total++
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// eachVersion calls f for the versions of a query, with the bytes of all so far, until f returns
// false.
func eachVersion[T any](ctx context.Context, c *resource.Call, q resource.Query, f func(r *resource.Row[T], bytes int) bool) error {
	bytes := 0
	for rec, err := range resource.Rows(ctx, c.Reader, q, versionsAtOnce) {
		if err != nil {
			return err
		}
		r, err := resource.Decode[T](rec)
		if err != nil {
			return err
		}
		if bytes += len(rec.Body); !f(r, bytes) {
			return nil
		}
	}
	return nil
}

func versionPage(c *resource.Call, q *resource.Query) {
	q.Limit = c.Int("page_size")
	q.Offset = c.Int("current_page") * q.Limit
}
