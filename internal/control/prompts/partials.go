package prompts

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/prompt"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// partials returns the resource of partials: texts that templates include. They are versioned
// and published in the same way as prompts.
// Source: contract/content-and-observability.yaml, partials; .md 1.2, 1.6.
func partials() resource.Resource {
	return &resource.Kind[prompt.Partial, partialView]{
		Name: prompt.PartialKind, Object: "partial", Title: "partial", Tag: "Prompts", Audited: "prompt_partials",
		Path: "/prompts/partials", Param: "promptPartialId", Slug: "pp", Suffix: "@", Perm: "prompts",
		Verbs: resource.AllVerbs, Scope: resource.InWorkspace, PageSize: 100,
		Create: partialIn{}, Update: partialPatch{}, PreparedFields: []string{"collection_id", "string", "description", "version_description"},
		Filters: []resource.Filter{listing.SearchFilter(), collectionFilter()},
		Select:  selectCollected,
		Views:   []resource.Param{{Name: "version", Doc: "Version number, or latest; defaults to the published version"}},
		Prepare: preparePartial,
		Refs: []resource.Ref[prompt.Partial]{
			{Kind: prompt.PartialKind, All: func(_ context.Context, _ *resource.Call, r *resource.Row[prompt.Partial]) ([]*resource.Record, error) {
				return known(r.Value.PartialsInUse()), nil
			}},
		},
		Index: func(r *resource.Row[prompt.Partial]) []resource.IndexEntry {
			return parentEntries(r.Value.CollectionID)
		},
		After:   afterPartial,
		View:    viewPartial,
		Receipt: &resource.WriteResponse[prompt.Partial]{Shape: partialReceipt{}, Make: receivePartial},
		Done:    &resource.WriteResponse[prompt.Partial]{Shape: partialDone{}, Make: changedPartial},
		Actions: []resource.Action[prompt.Partial]{
			{
				Name: "read", Method: http.MethodGet, Path: "/versions", ID: "listPartialVersions", Summary: "List the versions of a partial, newest first",
				Query: versionPaging(), Response: resource.ListOf[partialVersionView]{}, Read: listPartialVersions,
			},
			{
				Name: "publish", Method: http.MethodPut, Path: "/makeDefault", ID: "publishPartial", Summary: "Publish a version, so that templates include it",
				Body: publishIn{}, Run: publishPartial,
			},
		},
	}
}

// partialIn is the request body that creates a partial.
type partialIn struct {
	Name         string  `json:"name" minLength:"1" maxLength:"255"`
	String       string  `json:"string" maxLength:"524288" doc:"Template text"`
	CollectionID string  `json:"collection_id,omitempty" maxLength:"255" doc:"Id or slug of the collection; defaults to that of the workspace"`
	Description  *string `json:"version_description,omitempty" nullable:"true" maxLength:"1024"`
	WorkspaceID  string  `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

// partialPatch is the request body that updates a partial.
type partialPatch struct {
	Name               string  `json:"name,omitempty" minLength:"1" maxLength:"255"`
	String             string  `json:"string,omitempty" maxLength:"524288" doc:"Template text; changed text creates a version"`
	CollectionID       string  `json:"collection_id,omitempty" minLength:"1" maxLength:"255"`
	Description        *string `json:"description,omitempty" nullable:"true" maxLength:"1024" doc:"Description of the new version"`
	VersionDescription *string `json:"version_description,omitempty" nullable:"true" maxLength:"1024" doc:"Alias of description"`
	Status             string  `json:"status,omitempty" enum:"active,archived"`
	WorkspaceID        string  `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

// partialView is a partial in responses. The response for a single partial includes one of its
// versions; lists do not.
type partialView struct {
	ID            string             `json:"id" format:"uuid"`
	Slug          string             `json:"slug"`
	Name          string             `json:"name"`
	CollectionID  string             `json:"collection_id" format:"uuid"`
	Status        string             `json:"status" enum:"active,archived"`
	CreatedAt     resource.Stamp     `json:"created_at"`
	LastUpdatedAt resource.Stamp     `json:"last_updated_at"`
	Object        string             `json:"object" enum:"partial"`
	String        *string            `json:"string,omitempty" doc:"This and the following fields only in the response for a single partial"`
	Version       int                `json:"version,omitempty"`
	Description   jsonfield.Document `json:"version_description,omitempty"`
	VersionID     string             `json:"prompt_partial_version_id,omitempty" format:"uuid"`
	VersionStatus string             `json:"prompt_partial_version_status,omitempty" enum:"active,archived"`
}

// partialVersionView is a version in the list of versions.
type partialVersionView struct {
	PartialID   string         `json:"prompt_partial_id" format:"uuid"`
	VersionID   string         `json:"prompt_partial_version_id" format:"uuid"`
	Slug        string         `json:"slug"`
	Version     int            `json:"version"`
	String      string         `json:"string"`
	Description *string        `json:"description" nullable:"true"`
	CreatedAt   resource.Stamp `json:"created_at"`
	Status      string         `json:"prompt_version_status" enum:"active,archived"`
	IsDefault   bool           `json:"is_default"`
	Object      string         `json:"object" enum:"partial"`
}

// partialReceipt is the response to a creation.
type partialReceipt struct {
	ID        string `json:"id" format:"uuid"`
	Slug      string `json:"slug"`
	VersionID string `json:"version_id" format:"uuid"`
	Object    string `json:"object" enum:"partial"`
}

// partialDone is the response to an update: {} if the update did not change a version.
type partialDone struct {
	VersionID string `json:"prompt_partial_version_id,omitempty" format:"uuid"`
}

func receivePartial(_ context.Context, _ *resource.Call, ch *resource.Edit[prompt.Partial]) (any, error) {
	return partialReceipt{ch.New.ID, ch.New.Slug, ch.New.Value.NewestID, "partial"}, nil
}

func changedPartial(_ context.Context, _ *resource.Call, ch *resource.Edit[prompt.Partial]) (any, error) {
	p := &ch.New.Value
	switch {
	case p.Draft != nil && p.Draft.Number != p.Newest:
		return partialDone{p.DefaultID}, nil
	case p.Draft != nil || ch.Sent.Has("string"):
		return partialDone{p.NewestID}, nil
	}
	return partialDone{}, nil
}

// preparePartial creates a version if the sent text differs from the newest version. A
// description without a text changes the published version.
func preparePartial(ctx context.Context, c *resource.Call, ch *resource.Edit[prompt.Partial]) error {
	p := &ch.New.Value
	if name := c.Sent.Text("collection_id"); name != "" {
		if err := moveCollected(ctx, c, true, ch.New.WorkspaceID, &p.CollectionID); err != nil {
			return err
		}
	} else if ch.Old == nil {
		p.CollectionID = prompt.DefaultCollectionID(ch.New.WorkspaceID)
	}
	text, note := ch.Sent.Has("string"), cmp.Or(ch.Sent.Text("version_description"), ch.Sent.Text("description"))
	if ch.Old == nil {
		return addPartialVersion(ctx, c, ch.New, prompt.PartialVersion{String: ch.Sent.Text("string"), Description: note})
	}
	number := p.Newest
	if !text {
		number = p.Default
	}
	if !text && !jsonfield.SentAny(ch.Sent, []string{"version_description", "description"}) {
		return nil
	}
	found, err := findVersion[prompt.PartialVersion](ctx, c.Reader, prompt.PartialVersionKind, ch.New.ID, number)
	switch {
	case err != nil:
		return err
	case !text:
		found.Value.Description, p.Draft = note, &found.Value
		return nil
	case found.Value.String == ch.Sent.Text("string") && (note == "" || note == found.Value.Description):
		return nil
	}
	return addPartialVersion(ctx, c, ch.New, prompt.PartialVersion{String: ch.Sent.Text("string"), Description: note})
}

func addPartialVersion(ctx context.Context, c *resource.Call, r *resource.Row[prompt.Partial], draft prompt.PartialVersion) error {
	t, err := draft.Compile()
	if err != nil {
		return err
	}
	if draft.Partials, err = findPartials(ctx, c, r.WorkspaceID, t.Partials()); err != nil {
		return err
	}
	if slices.Contains(draft.Partials, r.ID) {
		return fault.New(fault.InvalidParameter, "the partial includes itself").WithParam("string")
	}
	p := &r.Value
	if err := p.Advance(ident.NewID()); err != nil {
		return err
	}
	draft.PartialID, draft.Number = r.ID, p.Newest
	p.Uses = prompt.AddUses(p.Uses, draft.Number, draft.Partials)
	p.Draft = &draft
	return nil
}

// afterPartial stores the version of a change. It creates the default collection for a new
// partial in it, and archives the versions of an archived partial.
func afterPartial(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[prompt.Partial]) error {
	if ch.New.Status == resource.Archived {
		return resource.ArchiveAll(ctx, tx, c, versionsOf(prompt.PartialVersionKind, ch.New.ID))
	}
	if ch.Old == nil && ch.New.Value.CollectionID == prompt.DefaultCollectionID(ch.New.WorkspaceID) {
		if err := EnsureDefaultCollection(ctx, tx, c, ch.New.OrgID, ch.New.WorkspaceID); err != nil {
			return err
		}
	}
	d := ch.New.Value.Draft
	switch {
	case d == nil:
		return nil
	case ch.Old == nil || d.Number > ch.Old.Value.Newest:
		return insertVersion(ctx, tx, c, ch.New.Record, prompt.PartialVersionKind, ch.New.Value.NewestID, d.Number, d)
	}
	return rewriteVersion(ctx, tx, c, prompt.PartialVersionKind, ch.New.Value.DefaultID, d)
}

func viewPartial(ctx context.Context, c *resource.Call, r resource.Row[prompt.Partial], detail bool) (partialView, error) {
	p := &r.Value
	v := partialView{
		ID: r.ID, Slug: r.Slug, Name: p.Name, CollectionID: p.CollectionID, Status: r.Status,
		CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated), Object: "partial",
	}
	if !detail {
		return v, nil
	}
	_, suffix := prompt.Split(c.Path("promptPartialId"))
	version, err := findVersion[prompt.PartialVersion](ctx, c.Reader, prompt.PartialVersionKind, r.ID, p.Pick(cmp.Or(c.Query("version"), suffix)))
	if err != nil {
		return v, err
	}
	v.String, v.Version, v.Description = &version.Value.String, version.Value.Number, jsonfield.Document(jsonfield.Encode(jsonfield.OrNull(version.Value.Description)))
	v.VersionID, v.VersionStatus = version.ID, version.Status
	return v, nil
}

func listPartialVersions(ctx context.Context, c *resource.Call, r resource.Row[prompt.Partial]) (any, error) {
	return listedVersions(ctx, c, prompt.PartialVersionKind, r.ID, func(v *prompt.PartialVersion) []string { return []string{v.Description, strconv.Itoa(v.Number)} }, func(row *resource.Row[prompt.PartialVersion]) partialVersionView {
		v := &row.Value
		return partialVersionView{
			PartialID: r.ID, VersionID: row.ID, Slug: r.Slug, Version: v.Number, String: v.String, Description: jsonfield.OrNull(v.Description),
			CreatedAt: resource.Stamp(row.Created), Status: row.Status, IsDefault: v.Number == r.Value.Default, Object: "partial",
		}
	})
}

func publishPartial(ctx context.Context, _ resource.Tx, c *resource.Call, ch *resource.Edit[prompt.Partial]) (any, error) {
	version, err := findVersion[prompt.PartialVersion](ctx, c.Reader, prompt.PartialVersionKind, ch.New.ID, sentNumber(c, "version"))
	if err != nil {
		return nil, fault.From(err).WithParam("version")
	}
	t, err := version.Value.Compile()
	if err != nil {
		return nil, err
	}
	isSelf := func(ref prompt.PartialRef) bool {
		return ref.Version == "" && (ref.Name == ch.New.ID || ref.Name == ch.New.Slug)
	}
	if err := prompt.CheckCycle(t.Partials(), partialsOf(ctx, c, ch.New.WorkspaceID), isSelf); err != nil {
		return nil, err
	}
	ch.New.Value.Publish(version.Value.Number, version.ID)
	c.Note("version", version.Value.Number)
	return resource.Empty{}, nil
}
