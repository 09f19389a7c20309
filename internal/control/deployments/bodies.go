package deployments

import (
	"context"
	"encoding/json"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/deployment"
	"sluice/internal/kernel/fault"
)

// gatewayIn is the body of a creation.
type gatewayIn struct {
	Name           string            `json:"name" minLength:"1" maxLength:"255"`
	Type           string            `json:"type,omitempty" enum:"production,non-production,non_production" default:"non-production"`
	Slug           string            `json:"slug,omitempty" minLength:"1" maxLength:"50" pattern:"^[a-zA-Z0-9_-]+$" doc:"Unique in the organisation; generated when absent"`
	OrganisationID string            `json:"organisation_id,omitempty" format:"uuid" doc:"Organisation of the API key"`
	Config         map[string]any    `json:"deployment_config,omitempty" nullable:"true" doc:"Free-form settings of the gateway; must not contain secrets"`
	IsDefault      jsonfield.Flag    `json:"is_default,omitempty" doc:"Makes this the default deployment; the organisation has only one"`
	Auth           *DeploymentAuthIn `json:"auth_settings,omitempty"`
}

// gatewayPatch is the body of an update.
type gatewayPatch struct {
	Name      string             `json:"name,omitempty" minLength:"1" maxLength:"255"`
	Type      string             `json:"type,omitempty" enum:"production,non-production,non_production"`
	Status    string             `json:"status,omitempty" enum:"active,archived"`
	Config    map[string]any     `json:"deployment_config,omitempty" nullable:"true"`
	IsDefault jsonfield.Flag     `json:"is_default,omitempty"`
	Rotate    bool               `json:"rotate_auth,omitempty" doc:"Creates a client_auth; the old one is revoked immediately"`
	Override  bool               `json:"override_existing,omitempty" doc:"Replaces the present lists with those sent, instead of adding to them"`
	Auth      *deploymentAuthSet `json:"auth_settings,omitempty" doc:"Merged into the present settings"`
}

// DeploymentAuthIn contains the access settings of a creation.
type DeploymentAuthIn struct {
	BaseURL           *string           `json:"gateway_base_url,omitempty" nullable:"true" maxLength:"2048"`
	MCPBaseURL        *string           `json:"mcp_gateway_base_url,omitempty" nullable:"true" maxLength:"2048"`
	DataService       jsonfield.Flag    `json:"is_dataservice_hosted,omitempty"`
	Playground        jsonfield.Flag    `json:"is_playground_proxy_allowed,omitempty"`
	Workspaces        []string          `json:"workspaces_allowed,omitempty" nullable:"false" maxItems:"1000" doc:"Slugs or ids; empty for all"`
	Subjects          []string          `json:"jwt_subs_allowed,omitempty" nullable:"false" maxItems:"1000"`
	SubjectWorkspaces map[string]string `json:"jwt_sub_workspace_mapping,omitempty" doc:"Workspace for each sub; allows both"`
}

// deploymentAuthSet contains the access settings of an update.
type deploymentAuthSet struct {
	DeploymentAuthIn
	All              jsonfield.Flag `json:"allow_all_workspaces,omitempty" doc:"Removes the restriction to workspaces"`
	RemoveWorkspaces []string       `json:"remove_workspaces_allowed,omitempty" nullable:"false" maxItems:"1000"`
	RemoveSubjects   []string       `json:"remove_subs_allowed,omitempty" nullable:"false" maxItems:"1000"`
}

type deploymentReceipt struct {
	ID             string `json:"id" format:"uuid"`
	ClientAuth     string `json:"client_auth" doc:"Returned only once"`
	OrganisationID string `json:"organisation_id" format:"uuid"`
	Object         string `json:"object" enum:"deployment"`
}

type deploymentDone struct {
	ClientAuth string `json:"client_auth,omitempty" doc:"Set after rotate_auth; returned only once"`
}

// deploymentView is a deployment as clients see it; its settings are shown only when one is
// read.
type deploymentView struct {
	ID               string                    `json:"id" format:"uuid"`
	Name             string                    `json:"name"`
	Slug             string                    `json:"slug"`
	Type             string                    `json:"type" enum:"production,non-production"`
	Status           string                    `json:"status" enum:"active,archived"`
	ConnectionStatus string                    `json:"connection_status" enum:"healthy,unhealthy,unknown" doc:"Status reported by the last ping"`
	IsDefault        int                       `json:"is_default" enum:"0,1"`
	CreatedBy        string                    `json:"created_by"`
	CreatedAt        resource.Stamp            `json:"created_at"`
	LastUpdatedAt    resource.Stamp            `json:"last_updated_at"`
	LastSyncedAt     *resource.Stamp           `json:"last_synced_at" nullable:"true" doc:"Time when the gateway last read its own record, to the minute"`
	LastResyncedAt   *resource.Stamp           `json:"last_resynced_at" nullable:"true"`
	Tags             map[string]string         `json:"tags" nullable:"true"`
	Object           string                    `json:"object" enum:"deployment"`
	OrganisationID   string                    `json:"organisation_id,omitempty" format:"uuid"`
	Config           map[string]any            `json:"deployment_config,omitempty"`
	Auth             *deploymentAuthView       `json:"auth_settings,omitempty"`
	Workspaces       []deploymentWorkspaceView `json:"workspaces,omitempty" nullable:"false" doc:"Workspaces that may use it; absent for all"`
	ClientAuth       string                    `json:"client_auth,omitempty" doc:"Masked secret"`
}

type deploymentAuthView struct {
	BaseURL           string            `json:"gateway_base_url"`
	MCPBaseURL        string            `json:"mcp_gateway_base_url"`
	DataService       int               `json:"is_dataservice_hosted" enum:"0,1"`
	Playground        int               `json:"is_playground_proxy_allowed" enum:"0,1"`
	Workspaces        []string          `json:"workspaces_allowed" nullable:"false"`
	Subjects          []string          `json:"jwt_subs_allowed" nullable:"false"`
	SubjectWorkspaces map[string]string `json:"jwt_sub_workspace_mapping"`
	All               int               `json:"allow_all_workspaces" enum:"0,1"`
	Hosted            int               `json:"disable_hosted_gateway" enum:"0,1"`
	PrivateLink       int               `json:"use_private_link_proxy" enum:"0,1"`
}

type deploymentWorkspaceView struct {
	ID   string `json:"id" format:"uuid"`
	Slug string `json:"slug"`
}

func (k deployments) viewDeployment(ctx context.Context, c *resource.Call, r resource.Row[deployment.Deployment], detail bool) (deploymentView, error) {
	d := r.Value
	state, err := readState(ctx, c.Reader, r.ID)
	if err != nil {
		return deploymentView{}, err
	}
	v := deploymentView{
		ID: r.ID, Name: d.Name, Slug: r.Slug, Type: string(d.Type), Status: r.Status, ConnectionStatus: state.Connection, IsDefault: jsonfield.Bit(d.IsDefault && r.Status == resource.Active),
		CreatedBy: d.CreatedBy, CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated), LastSyncedAt: state.syncedAt(), Object: "deployment",
	}
	if !detail {
		return v, nil
	}
	if len(d.Config) > 0 {
		if err := json.Unmarshal(d.Config, &v.Config); err != nil {
			return v, err
		}
	}
	slugs, err := findWorkspaceSlugs(ctx, c.Reader, d.Auth)
	if err != nil {
		return v, err
	}
	v.Auth = &deploymentAuthView{
		BaseURL: d.Auth.BaseURL, MCPBaseURL: d.Auth.MCPBaseURL, DataService: jsonfield.Bit(d.Auth.DataService), Playground: jsonfield.Bit(d.Auth.Playground),
		Workspaces: []string{}, Subjects: append([]string{}, d.Auth.Subjects...), SubjectWorkspaces: map[string]string{}, All: jsonfield.Bit(len(d.Auth.Workspaces) == 0),
	}
	for _, id := range d.Auth.Workspaces {
		v.Auth.Workspaces = append(v.Auth.Workspaces, slugs[id])
		v.Workspaces = append(v.Workspaces, deploymentWorkspaceView{id, slugs[id]})
	}
	for sub, id := range d.Auth.SubjectWorkspaces {
		v.Auth.SubjectWorkspaces[sub] = slugs[id]
	}
	v.OrganisationID, v.ClientAuth = r.OrgID, d.Masked
	return v, nil
}

// findWorkspaceSlugs returns the slugs of the workspaces in the settings, by id. A workspace
// that does not exist any more has its id as slug.
func findWorkspaceSlugs(ctx context.Context, from resource.Reader, a deployment.Auth) (map[string]string, error) {
	slugs := make(map[string]string)
	ids := a.Workspaces
	for _, id := range a.SubjectWorkspaces {
		ids = append(ids[:len(ids):len(ids)], id)
	}
	for _, id := range ids {
		workspace, err := from.Find(ctx, "workspace", id)
		slugs[id] = id
		if fault.Has(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if s := workspace.ShownSlug(); s != "" {
			slugs[id] = s
		}
	}
	return slugs, nil
}
