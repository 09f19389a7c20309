package grants

import (
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
)

// GrantView is a grant as clients see it.
type GrantView struct {
	ID            string          `json:"id" doc:"Slug of the workspace"`
	Enabled       bool            `json:"enabled"`
	Status        string          `json:"status" enum:"active,archived"`
	CreatedAt     resource.Stamp  `json:"created_at"`
	LastUpdatedAt *resource.Stamp `json:"last_updated_at" nullable:"true"`
}

// View shows the grant of a workspace.
func View(workspace GrantedWorkspace) GrantView {
	g := workspace.grant
	updated := jsonfield.FromMillis(g.Updated)
	v := GrantView{ID: workspace.ShownSlug(), Enabled: g.Enabled, Status: workspace.Status, CreatedAt: resource.Stamp(jsonfield.FromMillis(g.Created)), LastUpdatedAt: resource.StampOf(&updated)}
	if !g.Enabled {
		v.Status = resource.Archived
	}
	return v
}
