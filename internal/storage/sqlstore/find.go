package sqlstore

import (
	"cmp"
	"context"
	"slices"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
)

// recordColumns are those of records and of record_versions, in one order.
const recordColumns = "kind, id, org_id, workspace_id, slug, name, name_folded, status, version, created_ms, updated_ms, body"

// Queries that find one record. Each returns the record as a row of version 1 or more, and its
// index entries as rows of version 0: the entry's name in name, its value in body and its
// unique_value in slug. It is one statement, because on a server a second one costs another round
// trip.
const (
	byID   = "kind = ? AND id = ?"
	bySlug = "kind = ? AND org_id = ? AND slug = ?"

	findID = "SELECT " + recordColumns + " FROM records WHERE " + byID + entriesOf + "?"
	// A slug is unique, so there is at most one id.
	findSlug = "SELECT " + recordColumns + " FROM records WHERE " + bySlug + entriesOf + "(SELECT id FROM records WHERE " + bySlug + ")"

	entriesOf = " UNION ALL SELECT i.kind, i.id, '', '', i.unique_value, i.name, '', '', 0, 0, 0, i.value" +
		" FROM record_index AS i WHERE i.kind = ? AND i.id = "
)

// Find returns one record with its index entries, by name and value. It returns fault.NotFound if
// the record does not exist.
func (r reads) Find(ctx context.Context, kind, id string) (resource.Record, error) {
	return r.one(ctx, "find "+kind, findID, kind, id, kind, id)
}

// FindSlug returns the record of a kind with a slug in an organisation. An empty slug matches no
// record.
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

// entry returns the index entry in a row of findID.
func (row *recordRow) entry() resource.IndexEntry {
	return resource.IndexEntry{Name: row.Name, Value: row.Body, Unique: row.Slug.Valid}
}
