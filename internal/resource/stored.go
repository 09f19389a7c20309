package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"sluice/internal/access"
	"sluice/internal/fault"
)

// stored is the form in which a row is kept: its body, and the index by which it is
// found, filtered and protected from losing what it refers to. An archived record
// keeps only what filters need: it gives up its slug and what must be unique.
func (k *Kind[T, V]) stored(ctx context.Context, c *Call, r *Row[T]) (Record, error) {
	rec := r.Record
	body, err := json.Marshal(r.Value)
	if err != nil {
		return rec, fmt.Errorf("encode %s: %w", k.Name, err)
	}
	rec.Body, rec.Index = body, nil
	if k.Index != nil {
		rec.Index = k.Index(r)
	}
	if r.Status == Archived {
		rec.Index = slices.DeleteFunc(rec.Index, func(e IndexEntry) bool { return e.Unique })
		if r.Slug != "" {
			rec.Slug, rec.Index = "", append(rec.Index, IndexEntry{Name: slugEntry, Value: r.Slug})
		}
		return rec, nil
	}
	if k.SlugPerPlace {
		rec.Slug, rec.Index = "", append(rec.Index, placeSlugs(r.WorkspaceID, r.Slug)...)
	}
	refs, err := k.references(ctx, c, r)
	rec.Index = append(rec.Index, refs...)
	return rec, err
}

// references finds what the row refers to and makes an entry for each.
func (k *Kind[T, V]) references(ctx context.Context, c *Call, r *Row[T]) ([]IndexEntry, error) {
	var entries []IndexEntry
	for _, ref := range k.Refs {
		to, err := ref.Find(ctx, c, r)
		if err != nil {
			return nil, err
		}
		if to != nil {
			entries = append(entries, IndexEntry{Name: refEntry(ref.Kind), Value: to.ID})
		}
	}
	return entries, nil
}

func refEntry(kind string) string { return "ref." + kind }

// Refer finds a live record that a field names by id or slug, in the workspace or
// above it: fault.ReferenceMissing, At the field, when there is none.
func (c *Call) Refer(ctx context.Context, kind, workspaceID, name, field string) (*Record, error) {
	r, err := Look(ctx, c.Reader, kind, access.Target{OrgID: c.OrgID, WorkspaceID: workspaceID}, name)
	if err != nil && !fault.Has(err, fault.NotFound) {
		return nil, err
	}
	if err != nil || r.Status == Archived || r.WorkspaceID != "" && r.WorkspaceID != workspaceID {
		return nil, fault.Newf(fault.ReferenceMissing, "there is no such %s in the workspace", kind).At(field)
	}
	return &r, nil
}

// Referring lists the live records of a kind that refer to a record, at most 1000.
func Referring(ctx context.Context, from Reader, kind string, to Record) ([]Record, error) {
	return from.List(ctx, Query{
		Kind: kind, OrgID: to.OrgID, Statuses: living, Index: []IndexEntry{{Name: refEntry(to.Kind), Value: to.ID}}, Limit: maxPageSize,
	})
}

// unused fails while live records refer to the one that is to go.
func (e *Engine) unused(ctx context.Context, from Reader, r Record) error {
	for _, u := range e.users[r.Kind] {
		if u.cascade {
			continue
		}
		n, err := from.Count(ctx, Query{Kind: u.kind, OrgID: r.OrgID, Statuses: living, Index: []IndexEntry{{Name: refEntry(r.Kind), Value: r.ID}}})
		if err != nil {
			return err
		}
		if n > 0 {
			return fault.Newf(fault.Conflict, "it is still in use by %d %s(s)", n, u.title)
		}
	}
	return nil
}
