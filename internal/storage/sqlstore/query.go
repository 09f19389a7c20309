package sqlstore

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
)

// The page sizes of List. Source: resource.Query.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// List returns the records that match, ordered by id, with their index entries unless the query
// excludes them. A limit or offset out of range is fault.InvalidRequest.
func (r reads) List(ctx context.Context, q resource.Query) ([]resource.Record, error) {
	limit, err := pageSize(q.Limit)
	if err != nil {
		return nil, err
	}
	if q.Offset < 0 {
		return nil, fault.New(fault.InvalidRequest, "must be 0 or greater").WithParam("offset")
	}
	var recs []resource.Record
	err = r.runStep(ctx, "list "+q.Kind, func(ctx context.Context) error {
		rows, err := r.paged(ctx, q, limit)
		switch {
		case err != nil:
		case q.Bare:
			recs = bare(rows)
		default:
			recs, err = r.withIndex(ctx, rows)
		}
		return err
	})
	return recs, err
}

// pageSize checks a requested number of rows and applies the default.
func pageSize(limit int) (int64, error) {
	switch {
	case limit < 0 || limit > maxLimit:
		return 0, fault.Newf(fault.InvalidRequest, "must be between 1 and %d", maxLimit).WithParam("limit")
	case limit == 0:
		return defaultLimit, nil
	}
	return int64(limit), nil
}

// filter adds the conditions of a query.
func (s *statement) filter(q resource.Query) {
	s.add(" WHERE r.kind = ?", q.Kind)
	if q.Kind == "" {
		s.text = strings.TrimSuffix(s.text, "= ?") + "<> ?" // no record has the empty kind
	}
	for _, f := range []struct{ column, value string }{{"r.org_id", q.OrgID}, {"r.workspace_id", q.WorkspaceID}, {"r.slug", q.Slug}} {
		if f.value != "" {
			s.add(" AND "+f.column+" = ?", f.value)
		}
	}
	if q.IDs != nil {
		s.add(" AND ")
		s.oneOf("r.id", append(slices.Clone(q.IDs), "")) // no record has the empty id
	}
	if len(q.Statuses) > 0 {
		// Most records have the first status. For a list of statuses SQLite would create a table
		// and search it for every record.
		s.add(" AND (r.status = ?"+strings.Repeat(" OR r.status = ?", len(q.Statuses)-1)+")", anys(q.Statuses)...)
	}
	for _, e := range q.Index {
		// The condition names the kind instead of using r: so SQLite finds the ids once, and not
		// for every record.
		s.add(" AND r.id IN (SELECT i.id FROM record_index AS i WHERE i.kind = ? AND i.name = ? AND i.value = ?)", q.Kind, e.Name, e.Value)
	}
	if len(q.OneOf) > 0 {
		s.add(" AND r.id IN (SELECT i.id FROM record_index AS i WHERE i.kind = ? AND (i.name = ? AND i.value = ?", q.Kind, q.OneOf[0].Name, q.OneOf[0].Value)
		for _, e := range q.OneOf[1:] {
			s.add(" OR i.name = ? AND i.value = ?", e.Name, e.Value)
		}
		s.add("))")
	}
	if q.Search != "" {
		s.add(" AND r.name_folded LIKE ? ESCAPE '!'", "%"+wildcards.Replace(strings.ToLower(q.Search))+"%")
	}
}

func anys(texts []string) []any {
	out := make([]any, len(texts))
	for i, v := range texts {
		out[i] = v
	}
	return out
}

// wildcards escapes the wildcards of LIKE.
var wildcards = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// ofRecords selects recordColumns of the records of a query, and the end of the feed.
const ofRecords = "SELECT r.kind, r.id, r.org_id, r.workspace_id, r.slug, r.name, r.name_folded, r.status, r.version, r.created_ms, r.updated_ms, r.body," +
	" (" + feedAt + ") FROM records AS r"

// page selects a page of a query. It skips the rows before the page in the index alone: their
// bodies are neither read nor sorted.
func page(q resource.Query, limit int64) (s statement) {
	order := " ORDER BY r.id"
	if q.Newest {
		order += " DESC"
	}
	s.text = ofRecords
	if q.Offset == 0 {
		s.filter(q)
		s.onwards(q)
		s.limit(order, limit)
		return s
	}
	s.text += " JOIN (SELECT r.kind, r.id FROM records AS r"
	s.filter(q)
	s.onwards(q)
	s.limit(order, limit)
	s.add(" OFFSET ?) AS p ON p.kind = r.kind AND p.id = r.id"+order, int64(q.Offset))
	return s
}

// limit adds an order and the maximum number of rows. The number is part of the text, because
// SQLite plans with it: as a value it would make SQLite prepare the statement again each time.
func (s *statement) limit(order string, rows int64) {
	s.add(order + " LIMIT " + strconv.FormatInt(rows, 10))
}

// onwards continues after the last record seen.
func (s *statement) onwards(q resource.Query) {
	switch {
	case q.After == "":
	case q.Newest:
		s.add(" AND r.id < ?", q.After)
	default:
		s.add(" AND r.id > ?", q.After)
	}
}
