package resource

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// A slug that is unique in the organisation is in Record.Slug. A slug that is unique only in its
// workspace, or whose record is archived, is in the index: slugEntry contains the slug,
// workspaceSlugEntry makes it unique in its workspace.
const (
	slugEntry          = "slug"
	workspaceSlugEntry = "slug_in_workspace"
)

// ShownSlug returns the slug that clients see.
func (r Record) ShownSlug() string {
	if r.Slug != "" {
		return r.Slug
	}
	for _, e := range r.Index {
		if e.Name == slugEntry {
			return e.Value
		}
	}
	return ""
}

// workspaceSlugEntries returns the index entries of a slug that is unique in its workspace.
func workspaceSlugEntries(workspaceID, slug string) []IndexEntry {
	return []IndexEntry{{Name: slugEntry, Value: slug}, {Name: workspaceSlugEntry, Value: workspaceSlugKey(workspaceID, slug), Unique: true}}
}

// workspaceSlugKey returns a hash, because a slug may be as long as an index value.
func workspaceSlugKey(workspaceID, slug string) string {
	sum := sha256.Sum256([]byte(workspaceID + "/" + slug))
	return hex.EncodeToString(sum[:])
}

// FindByName finds a record by id or slug. It returns fault.NotFound if the organisation does
// not have it or, if the target names a workspace, if that workspace does not have it. Without a
// workspace, a slug that several workspaces use is fault.InvalidParameter.
func FindByName(ctx context.Context, from Reader, kind string, target access.Target, name string) (Record, error) {
	if ident.ValidID(name) {
		if r, err := from.Find(ctx, kind, name); !fault.Has(err, fault.NotFound) {
			return requireOrg(r, target, err)
		}
	}
	r, err := from.FindSlug(ctx, kind, target.OrgID, name)
	if err == nil && (target.WorkspaceID == "" || r.WorkspaceID == target.WorkspaceID || r.WorkspaceID == "") {
		return r, nil
	}
	if err != nil && !fault.Has(err, fault.NotFound) {
		return Record{}, err
	}
	foreign := r
	q := Query{Kind: kind, OrgID: target.OrgID, WorkspaceID: target.WorkspaceID, Index: []IndexEntry{{Name: workspaceSlugEntry, Value: workspaceSlugKey(target.WorkspaceID, name)}}, Limit: 2}
	if target.WorkspaceID == "" {
		q.Index = []IndexEntry{{Name: slugEntry, Value: name}}
		q.Statuses = living
	}
	rows, err := from.List(ctx, q)
	switch {
	case err != nil:
		return Record{}, err
	case len(rows) == 1:
		return rows[0], nil
	case len(rows) > 1:
		return Record{}, fault.New(fault.InvalidParameter, "several workspaces have this slug; send one as workspace_id").WithParam("workspace_id")
	case foreign.ID != "":
		return foreign, nil
	}
	return Record{}, fault.New(fault.NotFound, "")
}

func requireOrg(r Record, target access.Target, err error) (Record, error) {
	if err == nil && r.OrgID != target.OrgID {
		return Record{}, fault.New(fault.NotFound, "")
	}
	return r, err
}

// slugText returns the readable part of a generated slug: lower-case letters, digits
// and dashes of a name, at most n characters. Source:
// contract/content-and-observability.yaml, conventions.slug_forms.
func slugText(name string, n int) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= n {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// newSlug generates a slug: "pc-routin-3f9x2a".
func newSlug(prefix, name string, n int) string {
	parts := make([]string, 0, 2)
	for _, p := range []string{prefix, slugText(name, n)} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "x")
	}
	return ident.NewSlug(strings.Join(parts, "-"))
}
