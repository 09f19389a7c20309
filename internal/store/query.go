package store

import (
	"context"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"sluice/internal/fault"
	"sluice/internal/resource"
)

// The page sizes of List. Source: resource.Query.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// List returns the records that match, with their index entries unless the query is
// for bare ones, ordered by id. A
// limit or offset out of range is fault.InvalidRequest.
func (r reads) List(ctx context.Context, q resource.Query) ([]resource.Record, error) {
	limit, err := pageSize(q.Limit)
	if err != nil {
		return nil, err
	}
	if q.Offset < 0 {
		return nil, fault.New(fault.InvalidRequest, "a page begins at 0 or more").At("offset")
	}
	var recs []resource.Record
	err = r.within(ctx, "list "+q.Kind, func(ctx context.Context) error {
		var rows []recordRow
		if err := r.page(r.db.NewSelect().Model(&rows), q, limit).Scan(ctx); err != nil {
			return err
		}
		if q.Bare {
			recs = bare(rows)
			return nil
		}
		var err error
		recs, err = r.withIndex(ctx, rows)
		return err
	})
	return recs, err
}

// pageSize checks the number of rows that a caller wants at once.
func pageSize(limit int) (int64, error) {
	switch {
	case limit < 0 || limit > maxLimit:
		return 0, fault.Newf(fault.InvalidRequest, "a page has 1 to %d rows", maxLimit).At("limit")
	case limit == 0:
		return defaultLimit, nil
	}
	return int64(limit), nil
}

// filter adds what a query asks for.
func filter(sel *bun.SelectQuery, q resource.Query) *bun.SelectQuery {
	for _, f := range []struct{ column, value string }{
		{"r.kind", q.Kind}, {"r.org_id", q.OrgID}, {"r.workspace_id", q.WorkspaceID}, {"r.slug", q.Slug},
	} {
		if f.value != "" {
			sel = sel.Where("? = ?", bun.Ident(f.column), f.value)
		}
	}
	if q.IDs != nil {
		sel = sel.Where("r.id IN (?)", bun.List(append(slices.Clone(q.IDs), ""))) // no record has the empty id
	}
	if len(q.Statuses) > 0 {
		sel = sel.Where("r.status IN (?)", bun.List(q.Statuses))
	}
	for _, e := range q.Index {
		// The kind is named, not taken from r: SQLite looks for the ids once then, and
		// not once for every record.
		sel = sel.Where("r.id IN (SELECT i.id FROM record_index AS i WHERE i.kind = ? AND i.name = ? AND i.value = ?)", q.Kind, e.Name, e.Value)
	}
	if q.Search != "" {
		sel = sel.Where("r.name_folded LIKE ? ESCAPE '!'", "%"+wildcards.Replace(strings.ToLower(q.Search))+"%")
	}
	return sel
}

// wildcards makes the signs of LIKE stand for themselves.
var wildcards = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// page selects a page of a query. The rows before it are passed by in the index alone:
// their bodies are neither read nor sorted.
func (r reads) page(sel *bun.SelectQuery, q resource.Query, limit int64) *bun.SelectQuery {
	if q.Offset == 0 {
		return inOrder(onwards(filter(sel, q), q), q).Limit(limit)
	}
	ids := r.db.NewSelect().Model((*recordRow)(nil)).Column("r.kind", "r.id")
	ids = inOrder(onwards(filter(ids, q), q), q).Limit(limit).Offset(int64(q.Offset))
	return inOrder(sel.Join("JOIN (?) AS p ON p.kind = r.kind AND p.id = r.id", ids), q)
}

// onwards continues behind the last record seen.
func onwards(sel *bun.SelectQuery, q resource.Query) *bun.SelectQuery {
	switch {
	case q.After == "":
		return sel
	case q.Newest:
		return sel.Where("r.id < ?", q.After)
	}
	return sel.Where("r.id > ?", q.After)
}

// inOrder orders by id, so by time of creation.
func inOrder(sel *bun.SelectQuery, q resource.Query) *bun.SelectQuery {
	if q.Newest {
		return sel.Order("r.id DESC")
	}
	return sel.Order("r.id ASC")
}
