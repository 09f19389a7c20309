package prompts

import (
	"cmp"
	"context"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/prompt"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// labels name versions of prompts. Three exist everywhere; the others belong to a workspace.
// Source: contract/content-and-observability.yaml, labels; .md section 1.6.
func labels() resource.Resource {
	return &resource.Kind[prompt.Label, labelView]{
		Name: prompt.LabelKind, Object: "label", Title: "label", Tag: "Prompts", Audited: "labels",
		Path: "/labels", Param: "labelId", ByID: true, Perm: "prompts", Scopes: promptScopes[prompt.Label]("update"),
		Verbs: resource.AllVerbs, Scope: resource.Located, Locate: locateLabel, PageSize: 100, Builtin: universalLabels,
		Create: labelIn{}, Update: labelPatch{},
		Filters: []resource.Filter{listing.SearchFilter(), listing.OrganisationFilter()},
		Views:   []resource.Param{listing.OrganisationFilter().Param},
		Prepare: prepareLabel,
		Index: func(r *resource.Row[prompt.Label]) []resource.IndexEntry {
			return []resource.IndexEntry{{Name: entryLabel, Value: labelKey(r), Unique: true}}
		},
		After: afterLabel,
		View:  viewLabel,
	}
}

// promptScopes returns the scopes of records that belong to prompts: the scope of the action,
// with create as given here.
// Source: contract/content-and-observability.yaml, labels.
func promptScopes[T any](create string) func(string, *resource.Row[T]) []access.Scope {
	return func(action string, _ *resource.Row[T]) []access.Scope {
		if action == "create" {
			action = create
		}
		return []access.Scope{access.Scope("prompts." + action)}
	}
}

// entryLabel is the index entry of a label's name, and of a prompt that has the label.
const entryLabel = "label"

func labelKey(r *resource.Row[prompt.Label]) string { return r.WorkspaceID + "/" + r.Value.Name }

// labelIn is the body of a creation.
type labelIn struct {
	jsonfield.OwnerIn
	Name        string  `json:"name" minLength:"1" maxLength:"100" doc:"Label name; not latest, default, a number or a universal label"`
	Description *string `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	Color       *string `json:"color_code,omitempty" nullable:"true" doc:"Colour as #RRGGBB"`
}

// labelPatch is the body of an update.
type labelPatch struct {
	Name        string  `json:"name,omitempty" minLength:"1" maxLength:"100"`
	Description *string `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	Color       *string `json:"color_code,omitempty" nullable:"true" doc:"Colour as #RRGGBB"`
	WorkspaceID string  `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

// labelView is a label as clients see it.
type labelView struct {
	ID             string         `json:"id" format:"uuid"`
	Name           string         `json:"name"`
	Description    *string        `json:"description" nullable:"true"`
	Color          *string        `json:"color_code" nullable:"true"`
	OrganisationID string         `json:"organisation_id" format:"uuid"`
	WorkspaceID    *string        `json:"workspace_id" nullable:"true" format:"uuid"`
	IsUniversal    bool           `json:"is_universal"`
	Status         string         `json:"status" enum:"active,archived"`
	CreatedAt      resource.Stamp `json:"created_at"`
	LastUpdatedAt  resource.Stamp `json:"last_updated_at"`
	Object         string         `json:"object" enum:"label"`
}

func viewLabel(_ context.Context, _ *resource.Call, r resource.Row[prompt.Label], _ bool) (labelView, error) {
	return labelView{
		ID: r.ID, Name: r.Value.Name, Description: jsonfield.OrNull(r.Value.Description), Color: jsonfield.OrNull(r.Value.Color), OrganisationID: r.OrgID,
		WorkspaceID: jsonfield.OrNull(r.WorkspaceID), IsUniversal: prompt.UniversalID(r.OrgID, r.Value.Name) == r.ID, Status: r.Status,
		CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated), Object: "label",
	}, nil
}

// universalLabels returns the labels that every organisation has.
func universalLabels(c *resource.Call) []resource.Row[prompt.Label] {
	rows := make([]resource.Row[prompt.Label], 0, len(prompt.Universal))
	for _, name := range prompt.Universal {
		rows = append(rows, resource.Row[prompt.Label]{
			Record: resource.Record{Kind: prompt.LabelKind, ID: prompt.UniversalID(c.OrgID, name), OrgID: c.OrgID, Name: name, Status: resource.Active, Created: labelsSince, Updated: labelsSince},
			Value:  prompt.Label{Name: name},
		})
	}
	return rows
}

// labelsSince is the creation time of the universal labels: they are not stored and have none.
var labelsSince = jsonfield.FromMillis(0)

// locateLabel sets the workspace of a label: the one that is named, or the default workspace if
// only an organisation is named.
func locateLabel(ctx context.Context, c *resource.Call, r *resource.Row[prompt.Label]) error {
	r.WorkspaceID = c.WorkspaceID
	if r.WorkspaceID != "" || !c.Sent.Has("organisation_id") {
		return c.RequireWorkspace()
	}
	workspaces, err := resource.ListRows[tenant.Workspace](ctx, c.Reader, resource.Query{Kind: tenant.WorkspaceKind, OrgID: c.OrgID, Statuses: []string{resource.Active}, Limit: 1000})
	for _, p := range workspaces {
		if p.Value.IsDefault {
			r.WorkspaceID = p.ID
			return nil
		}
	}
	return cmp.Or(err, c.RequireWorkspace())
}

// prepareLabel rejects a name that the workspace already has.
func prepareLabel(ctx context.Context, c *resource.Call, ch *resource.Edit[prompt.Label]) error {
	if prompt.UniversalID(c.OrgID, ch.New.Value.Name) != "" {
		return fault.Newf(fault.Conflict, "the label %q is built in; choose another name", ch.New.Value.Name).WithParam("name")
	}
	rows, err := c.Reader.List(ctx, resource.Query{Kind: prompt.LabelKind, OrgID: c.OrgID, Index: []resource.IndexEntry{{Name: entryLabel, Value: labelKey(ch.New)}}, Limit: 1})
	if err == nil && len(rows) > 0 && rows[0].ID != ch.New.ID {
		return fault.Newf(fault.Conflict, "the workspace already has a label %q", ch.New.Value.Name).WithParam("name")
	}
	return err
}

// afterLabel removes an archived label from the prompts that have it.
func afterLabel(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[prompt.Label]) error {
	if ch.New.Status != resource.Archived {
		return nil
	}
	q := resource.Query{Kind: prompt.Kind, OrgID: ch.New.OrgID, WorkspaceID: ch.New.WorkspaceID, Statuses: []string{resource.Active}, Limit: 1000,
		Index: []resource.IndexEntry{{Name: entryLabel, Value: ch.New.ID}}}
	return resource.DrainPages(func() ([]resource.Record, error) { return tx.List(ctx, q) }, func(r resource.Record) error {
		return prompts().UpdateLinked(ctx, tx, c, r, func(p *prompt.Prompt) { p.Unlabel(ch.New.ID) })
	})
}

// findLabel finds the label that a field names. If the workspace does not have it, it returns
// fault.ReferenceMissing with the field.
func findLabel(ctx context.Context, c *resource.Call, workspaceID, id, field string) error {
	for _, name := range prompt.Universal {
		if prompt.UniversalID(c.OrgID, name) == id {
			return nil
		}
	}
	_, err := c.Refer(ctx, prompt.LabelKind, workspaceID, id, field)
	return err
}
