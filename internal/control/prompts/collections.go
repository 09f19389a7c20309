package prompts

import (
	"context"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/prompt"
	"sluice/internal/kernel/fault"
)

// kind defines collections, the folders of prompts and partials. Each workspace has a default one,
// which is created with the workspace or when its collections are first listed.
// Source: contract/content-and-observability.yaml, collections; .md section 1.7.
func (k collections) kind() resource.Resource {
	return &resource.Kind[prompt.Collection, collectionView]{
		Name: prompt.CollectionKind, Object: "collection", Title: "collection", Tag: "Prompts", Audited: "collections",
		Path: "/collections", Param: "collectionId", Perm: "prompts", Scopes: promptScopes[prompt.Collection]("create"),
		Verbs: resource.AllVerbs, Scope: resource.InWorkspace, PageSize: 100,
		Create: collectionIn{}, Update: collectionPatch{}, PreparedFields: []string{"parent_collection_id"},
		Filters:    []resource.Filter{listing.SearchFilter()},
		Select:     k.selectCollections,
		Prepare:    prepareCollection,
		CanArchive: canArchiveCollection,
		Index: func(r *resource.Row[prompt.Collection]) []resource.IndexEntry {
			return parentEntries(r.Value.ParentID)
		},
		View: viewCollection,
	}
}

// collectionIn is the body of a creation.
type collectionIn struct {
	Name        string  `json:"name" minLength:"1" maxLength:"255"`
	WorkspaceID string  `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
	ParentID    *string `json:"parent_collection_id,omitempty" nullable:"true" maxLength:"255" doc:"Id or slug of the parent collection"`
}

// collectionPatch is the body of an update.
type collectionPatch struct {
	Name        string `json:"name" minLength:"1" maxLength:"255"`
	WorkspaceID string `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

// entryParent is the index entry of records in a collection.
const entryParent = "collection"

func parentEntries(id string) []resource.IndexEntry {
	if id == "" {
		return nil
	}
	return []resource.IndexEntry{{Name: entryParent, Value: id}}
}

// selectCollections creates the default collection of the listed workspace if the workspace is
// older than collections are. Without a workspace, the list contains the collections of all
// workspaces.
func (k collections) selectCollections(ctx context.Context, c *resource.Call, _ *resource.Query) error {
	if c.WorkspaceID == "" {
		return nil
	}
	_, err := c.Reader.Find(ctx, prompt.CollectionKind, prompt.DefaultCollectionID(c.WorkspaceID))
	if !fault.Has(err, fault.NotFound) {
		return err
	}
	err = k.Store.InTx(ctx, func(tx resource.Tx) error {
		return EnsureDefaultCollection(ctx, tx, c, c.OrgID, c.WorkspaceID)
	})
	if fault.Has(err, fault.ReadOnly) || fault.Has(err, fault.Conflict) {
		return nil // it is shown once it can be written, or another call has just created it
	}
	return err
}

// EnsureDefaultCollection creates the default collection of a workspace unless it exists.
func EnsureDefaultCollection(ctx context.Context, tx resource.Tx, c *resource.Call, orgID, workspaceID string) error {
	id := prompt.DefaultCollectionID(workspaceID)
	_, err := tx.Find(ctx, prompt.CollectionKind, id)
	if !fault.Has(err, fault.NotFound) {
		return err
	}
	return tx.Insert(ctx, resource.Record{
		Kind: prompt.CollectionKind, ID: id, OrgID: orgID, WorkspaceID: workspaceID, Slug: "default-" + id[:6], Name: "Default",
		Status: resource.Active, Version: 1, Created: c.Now, Updated: c.Now, Body: jsonfield.Encode(prompt.Collection{Name: "Default", IsDefault: true}),
	})
}

// prepareCollection finds the parent collection of a new one.
func prepareCollection(ctx context.Context, c *resource.Call, ch *resource.Edit[prompt.Collection]) error {
	name := ch.Sent.Text("parent_collection_id")
	if ch.Old != nil || name == "" {
		return nil
	}
	parent, err := findCollection(ctx, c, ch.New.WorkspaceID, name, "parent_collection_id")
	if err != nil {
		return err
	}
	ch.New.Value.ParentID = parent.ID
	for depth := 1; parent.Value.ParentID != ""; depth++ {
		if depth >= prompt.MaxCollectionDepth {
			return fault.Newf(fault.InvalidParameter, "collections must not be nested deeper than %d levels", prompt.MaxCollectionDepth).WithParam("parent_collection_id")
		}
		if parent, err = resource.FindLive[prompt.Collection](ctx, c.Reader, prompt.CollectionKind, parent.Value.ParentID); err != nil {
			return err
		}
	}
	return nil
}

// findCollection finds a collection that a field names by id or slug. It searches one workspace
// or, if workspaceID is empty, those of the caller. If there is none, it returns fault.NotFound
// with the field.
func findCollection(ctx context.Context, c *resource.Call, workspaceID, name, field string) (*resource.Row[prompt.Collection], error) {
	rec, err := resource.FindByName(ctx, c.Reader, prompt.CollectionKind, resource.TargetOf(c, workspaceID), name)
	if err != nil && !fault.Has(err, fault.NotFound) {
		return nil, err
	}
	if err != nil || rec.Status == resource.Archived || workspaceID != "" && rec.WorkspaceID != workspaceID || !c.Principal.BelongsTo(rec.WorkspaceID) {
		return nil, fault.New(fault.NotFound, "the collection does not exist").WithParam(field)
	}
	return resource.Decode[prompt.Collection](rec)
}

// canArchiveCollection rejects deletion of the default collection and of a collection that is
// not empty.
func canArchiveCollection(ctx context.Context, c *resource.Call, r *resource.Row[prompt.Collection]) error {
	if r.Value.IsDefault {
		return fault.New(fault.NotFound, "the default collection of a workspace cannot be deleted")
	}
	found, err := resource.DescribeContents(ctx, c, collected, func(kind string) resource.Query { return insideCollection(r.Record, kind) })
	if err != nil || found == "" {
		return err
	}
	return fault.Newf(fault.InvalidRequest, "the collection contains %s; move or delete them first", found)
}

// collected are the kinds whose records are in collections.
var collected = []resource.Content{
	{Kind: prompt.CollectionKind, Title: "collection"}, {Kind: prompt.Kind, Title: "prompt"}, {Kind: prompt.PartialKind, Title: "partial"},
}

func insideCollection(r resource.Record, kind string) resource.Query {
	return resource.Query{
		Kind: kind, OrgID: r.OrgID, WorkspaceID: r.WorkspaceID, Statuses: []string{resource.Active}, Limit: 1000,
		Index: []resource.IndexEntry{{Name: entryParent, Value: r.ID}},
	}
}
