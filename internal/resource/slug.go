package resource

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"sluice/internal/access"
	"sluice/internal/fault"
	"sluice/internal/ident"
)

// A slug that is unique in the organisation stands in Record.Slug. One that is
// unique in its workspace only, or whose record is archived, stands in the index:
// slugEntry has it as it is, placeEntry makes sure that there is one.
const (
	slugEntry  = "slug"
	placeEntry = "slug_in_workspace"
)

// ShownSlug is the slug by which clients know the record.
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

// placeSlugs are the entries of a slug that is unique in its workspace.
func placeSlugs(workspaceID, slug string) []IndexEntry {
	return []IndexEntry{{Name: slugEntry, Value: slug}, {Name: placeEntry, Value: placeKey(workspaceID, slug), Unique: true}}
}

// placeKey is hashed because a slug may be as long as an index value.
func placeKey(workspaceID, slug string) string {
	sum := sha256.Sum256([]byte(workspaceID + "/" + slug))
	return hex.EncodeToString(sum[:])
}

// FindByName finds a record by id or slug: fault.NotFound when there is none in the
// organisation or, when a workspace is named, in that workspace. Without a workspace
// a slug that several workspaces use is fault.InvalidParameter.
func FindByName(ctx context.Context, from Reader, kind string, in access.Target, name string) (Record, error) {
	if ident.ValidID(name) {
		if r, err := from.Find(ctx, kind, name); !fault.Has(err, fault.NotFound) {
			return within(r, in, err)
		}
	}
	r, err := from.FindSlug(ctx, kind, in.OrgID, name)
	if err == nil && (in.WorkspaceID == "" || r.WorkspaceID == in.WorkspaceID || r.WorkspaceID == "") {
		return r, nil
	}
	if err != nil && !fault.Has(err, fault.NotFound) {
		return Record{}, err
	}
	foreign := r
	q := Query{Kind: kind, OrgID: in.OrgID, WorkspaceID: in.WorkspaceID, Index: []IndexEntry{{Name: placeEntry, Value: placeKey(in.WorkspaceID, name)}}, Limit: 2}
	if in.WorkspaceID == "" {
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
		return Record{}, fault.New(fault.InvalidParameter, "several workspaces have this slug; name one").WithParam("workspace_id")
	case foreign.ID != "":
		return foreign, nil
	}
	return Record{}, fault.New(fault.NotFound, "")
}

func within(r Record, in access.Target, err error) (Record, error) {
	if err == nil && r.OrgID != in.OrgID {
		return Record{}, fault.New(fault.NotFound, "")
	}
	return r, err
}

// slugText makes the readable part of a generated slug: lower-case letters, digits
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
