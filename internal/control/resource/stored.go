package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// stored returns a row in its stored form: its body, and the index that finds it, filters it and
// protects the records that it refers to.
func (k *Kind[T, V]) stored(ctx context.Context, c *Call, r *Row[T]) (Record, error) {
	rec, err := k.encoded(r)
	if err != nil || r.Status == Archived {
		return rec, err
	}
	refs, err := k.references(ctx, c, r)
	rec.Index = append(rec.Index, refs...)
	return rec, err
}

// encoded returns the stored form without references. An archived record retains only the index
// entries that filters need: its slug and its unique entries are freed.
func (k *Kind[T, V]) encoded(r *Row[T]) (Record, error) {
	rec := r.Record
	body, err := json.Marshal(r.Value)
	if err != nil {
		return rec, fmt.Errorf("encode %s: %w", k.Name, err)
	}
	rec.Body, rec.Index = body, nil
	if k.Index != nil {
		rec.Index = k.Index(r)
	}
	switch {
	case r.Status == Archived:
		releaseSlug(&rec, r.Slug)
	case k.SlugPerWorkspace:
		rec.Slug, rec.Index = "", append(rec.Index, workspaceSlugEntries(r.WorkspaceID, r.Slug)...)
	}
	return rec, nil
}

// releaseSlug removes the entries that only one record may have; the slug can still be read.
func releaseSlug(rec *Record, slug string) {
	rec.Index = slices.DeleteFunc(slices.Clone(rec.Index), func(e IndexEntry) bool { return e.Unique || e.Name == slugEntry })
	if rec.Slug = ""; slug != "" {
		rec.Index = append(rec.Index, IndexEntry{Name: slugEntry, Value: slug})
	}
}

// references finds the records that the row refers to and builds an entry for each.
func (k *Kind[T, V]) references(ctx context.Context, c *Call, r *Row[T]) ([]IndexEntry, error) {
	var entries []IndexEntry
	for _, ref := range k.Refs {
		found, err := ref.records(ctx, c, r)
		if err != nil {
			return nil, err
		}
		for _, to := range found {
			if e := (IndexEntry{Name: refEntry(ref.Kind), Value: to.ID}); !slices.Contains(entries, e) {
				entries = append(entries, e)
			}
		}
	}
	return entries, nil
}

// records returns the records that the field names.
func (ref *Ref[T]) records(ctx context.Context, c *Call, r *Row[T]) ([]*Record, error) {
	if ref.All != nil {
		return ref.All(ctx, c, r)
	}
	to, err := ref.Find(ctx, c, r)
	if err != nil || to == nil {
		return nil, err
	}
	return []*Record{to}, nil
}

func refEntry(kind string) string { return "ref." + kind }

// Refer finds a live record that a field names by id or slug, in the workspace or in the
// organisation. If there is none, it returns fault.ReferenceMissing with the field.
func (c *Call) Refer(ctx context.Context, kind, workspaceID, name, field string) (*Record, error) {
	r, err := FindByName(ctx, c.Reader, kind, access.Target{OrgID: c.OrgID, WorkspaceID: workspaceID}, name)
	if err != nil && !fault.Has(err, fault.NotFound) {
		return nil, err
	}
	if err != nil || r.Status == Archived || r.WorkspaceID != "" && r.WorkspaceID != workspaceID {
		return nil, fault.Newf(fault.ReferenceMissing, "the workspace does not have this %s", kind).WithParam(field)
	}
	return &r, nil
}

// unused returns an error if live records refer to the record that is to be archived.
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
			return fault.Newf(fault.Conflict, "still in use by %d %s(s); remove these references first", n, u.title)
		}
	}
	return nil
}

// TargetOf returns where a workspace of the caller's organisation counts in permission checks.
func TargetOf(c *Call, workspaceID string) access.Target {
	return access.Target{OrgID: c.OrgID, WorkspaceID: workspaceID}
}
