package prompts

import (
	"context"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/prompt"
)

// collectionView is a collection as clients see it: in lists with counts of its contents, alone
// with its child collections.
type collectionView struct {
	ID            string             `json:"id" format:"uuid"`
	Name          string             `json:"name"`
	WorkspaceID   string             `json:"workspace_id" format:"uuid"`
	Slug          string             `json:"slug"`
	ParentID      *string            `json:"parent_collection_id" nullable:"true"`
	IsDefault     bool               `json:"is_default"`
	Status        string             `json:"status" enum:"active,archived"`
	CreatedAt     resource.Stamp     `json:"created_at"`
	LastUpdatedAt resource.Stamp     `json:"last_updated_at"`
	Object        string             `json:"object" enum:"collection"`
	Details       *collectionDetails `json:"collection_details,omitempty"`
	Children      []childCollection  `json:"child_collections,omitempty" nullable:"false"`
}

type collectionDetails struct {
	Children        int             `json:"child_collections_count"`
	Prompts         int             `json:"prompts_count"`
	ChildrenUpdated *resource.Stamp `json:"child_collections_last_updated_at" nullable:"true"`
	PromptsUpdated  *resource.Stamp `json:"prompts_last_updated_at" nullable:"true"`
}

type childCollection struct {
	ID            string            `json:"id" format:"uuid"`
	Name          string            `json:"name"`
	LastUpdatedAt resource.Stamp    `json:"last_updated_at"`
	Details       collectionDetails `json:"collection_details"`
}

func viewCollection(ctx context.Context, c *resource.Call, r resource.Row[prompt.Collection], detail bool) (collectionView, error) {
	v := collectionView{
		ID: r.ID, Name: r.Value.Name, WorkspaceID: r.WorkspaceID, Slug: r.Slug, ParentID: jsonfield.OrNull(r.Value.ParentID), IsDefault: r.Value.IsDefault,
		Status: r.Status, CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated), Object: "collection",
	}
	details, err := detailsOf(ctx, c, r.Record)
	if err != nil {
		return v, err
	}
	v.Details = &details
	if !detail {
		return v, nil
	}
	children, err := resource.ListRows[prompt.Collection](ctx, c.Reader, insideCollection(r.Record, prompt.CollectionKind))
	for _, child := range children {
		details, err := detailsOf(ctx, c, child.Record)
		if err != nil {
			return v, err
		}
		v.Children = append(v.Children, childCollection{child.ID, child.Value.Name, resource.Stamp(child.Updated), details})
	}
	return v, err
}

// detailsOf counts the contents of a collection.
func detailsOf(ctx context.Context, c *resource.Call, r resource.Record) (d collectionDetails, err error) {
	if d.Children, d.ChildrenUpdated, err = countChildren(ctx, c, insideCollection(r, prompt.CollectionKind)); err != nil {
		return d, err
	}
	d.Prompts, d.PromptsUpdated, err = countChildren(ctx, c, insideCollection(r, prompt.Kind))
	return d, err
}

// countChildren returns the number of records of a query and the time of their last change.
func countChildren(ctx context.Context, c *resource.Call, q resource.Query) (int, *resource.Stamp, error) {
	n := 0
	var newest time.Time
	for {
		rows, err := c.Reader.List(ctx, q)
		if err != nil {
			return 0, nil, err
		}
		for _, r := range rows {
			if r.Updated.After(newest) {
				newest = r.Updated
			}
		}
		if n += len(rows); len(rows) < q.Limit {
			return n, resource.StampOf(&newest), nil
		}
		q.After = rows[len(rows)-1].ID
	}
}
