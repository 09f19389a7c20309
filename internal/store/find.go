package store

import (
	"cmp"
	"context"
	"slices"

	"sluice/internal/fault"
	"sluice/internal/resource"
)

// recordColumns are those of records and of record_versions, in one order.
const recordColumns = "kind, id, org_id, workspace_id, slug, name, name_folded, status, version, created_ms, updated_ms, body"

// The look-ups of one record. Each answers the record as a line of version 1 or more and
// its index entries as lines of version 0: name in name, value in body and unique_value
// in slug. One statement, because on a server every other one is a journey.
const (
	byID   = "kind = ? AND id = ?"
	bySlug = "kind = ? AND org_id = ? AND slug = ?"

	findID = "SELECT " + recordColumns + " FROM records WHERE " + byID + entriesOf + "?"
	// A slug is unique, so the id is one at most.
	findSlug = "SELECT " + recordColumns + " FROM records WHERE " + bySlug + entriesOf + "(SELECT id FROM records WHERE " + bySlug + ")"

	entriesOf = " UNION ALL SELECT i.kind, i.id, '', '', i.unique_value, i.name, '', '', 0, 0, 0, i.value" +
		" FROM record_index AS i WHERE i.kind = ? AND i.id = "
)

// Find returns one record with its index entries, by name and value; fault.NotFound when
// there is none.
func (r reads) Find(ctx context.Context, kind, id string) (resource.Record, error) {
	return r.one(ctx, "find "+kind, findID, kind, id, kind, id)
}

// FindSlug returns the record of a kind that has the slug in an organisation; an
// empty slug is nobody's.
func (r reads) FindSlug(ctx context.Context, kind, orgID, slug string) (resource.Record, error) {
	return r.one(ctx, "find "+kind+" by slug", findSlug, kind, orgID, slug, kind, kind, orgID, slug)
}

func (r reads) one(ctx context.Context, doing, query string, args ...any) (resource.Record, error) {
	var rows []recordRow
	err := r.runStep(ctx, doing, func(ctx context.Context) (err error) {
		rows, err = r.records(ctx, statement{query, args})
		return err
	})
	if err != nil {
		return resource.Record{}, err
	}
	index := slices.IndexFunc(rows, func(row recordRow) bool { return row.Version > 0 })
	if index < 0 {
		return resource.Record{}, fault.New(fault.NotFound, "")
	}
	rec := rows[index].record()
	for i := range rows {
		if i != index {
			rec.Index = append(rec.Index, rows[i].entry())
		}
	}
	slices.SortFunc(rec.Index, func(a, b resource.IndexEntry) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
	return rec, nil
}

// entry is the index entry that stands in a line of findID.
func (row *recordRow) entry() resource.IndexEntry {
	return resource.IndexEntry{Name: row.Name, Value: row.Body, Unique: row.Slug.Valid}
}
