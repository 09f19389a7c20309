package upstreams

import (
	"context"
	"net/http"
	"slices"

	"sluice/internal/control/grants"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/mcp"
	"sluice/internal/kernel/sealed"
)

// servers defines the upstream tool servers in workspaces; clients connect to them.
// Source: contract/content-and-observability.yaml, mcp-servers; .md section 9.
func (k mcpServers) servers() *resource.Kind[mcp.Server, mcpServerView] {
	f := k.kind()
	return &resource.Kind[mcp.Server, mcpServerView]{
		Name: mcp.ServerKind, Object: "mcp-server", Title: "MCP server", Tag: "MCP servers", Audited: "mcp_servers",
		Path: "/mcp-servers", Param: "mcpServerId", Perm: "mcp_servers", Verbs: resource.AllVerbs, Scope: resource.InWorkspace,
		PageSize: 100, PageMax: 100,
		Create: mcpServerIn{}, Update: serverPatch{},
		Filters: []resource.Filter{listing.NamesFilter("id"), listing.SearchFilter()},
		Select:  listing.FilterByNames("id", mcp.ServerKind),
		Prepare: f.prepareServer,
		Refs:    []resource.Ref[mcp.Server]{f.refer()},
		After:   afterMCPServer,
		View:    k.viewMCPServer,
		Receipt: &resource.WriteResponse[mcp.Server]{Shape: grants.IntegrationReceipt{}, Make: receiveUpstream[mcp.Server]},
		Actions: slices.Concat(f.accessActions("McpServer", "mcp_servers"), k.mcpServerCapabilities(), k.connectionActions(), k.mcpServerChecks()),
	}
}

// afterMCPServer deletes the connections of a server that is deleted.
func afterMCPServer(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[mcp.Server]) error {
	if ch.New.Status != resource.Archived {
		return nil
	}
	return dropConnections(ctx, tx, c, ch.New.Record)
}

// mcpServerChecks read the self-description of a server's upstream, and test it.
func (k mcpServers) mcpServerChecks() []resource.Action[mcp.Server] {
	return []resource.Action[mcp.Server]{
		{
			Name: "read", Method: http.MethodGet, Path: "/metadata", ID: "getMcpServerMetadata", Summary: "Get the metadata of a server's upstream",
			Response: mcpMetadataView{}, Read: func(ctx context.Context, c *resource.Call, r resource.Row[mcp.Server]) (any, error) {
				found, err := readFound(ctx, c.Reader, r.Value.IntegrationID)
				return viewMetadata(found), err
			},
		},
		{
			Name: "read", Method: http.MethodPost, Path: "/test", ID: "testMcpServer", Summary: "Test the connection to a server's upstream",
			Response: trialView{}, Read: func(ctx context.Context, c *resource.Call, r resource.Row[mcp.Server]) (any, error) {
				integration, err := k.kind().findIntegration(ctx, c.Reader, &r.Value)
				if err != nil {
					return nil, err
				}
				v := trialView{ServerName: r.Value.Name, Object: "mcp-server"}
				if !isServerUsable(integration.Record, r.WorkspaceID) {
					v.fails("the workspace does not have access to the integration of this server")
					return v, nil
				}
				return k.testMCPServer(ctx, c, integration, r.WorkspaceID, v)
			},
		},
	}
}

// mcpServerIn is the body of a creation.
type mcpServerIn struct {
	Name          string  `json:"name" minLength:"1" maxLength:"255"`
	IntegrationID string  `json:"mcp_integration_id" minLength:"1" maxLength:"255" doc:"Id or slug of an integration that the workspace may use"`
	Description   *string `json:"description,omitempty" nullable:"true" maxLength:"500"`
	Slug          string  `json:"slug,omitempty" minLength:"3" maxLength:"50" pattern:"^[a-zA-Z0-9_-]+$" doc:"Unique in the organisation; generated when absent"`
	WorkspaceID   string  `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

// serverPatch is the body of an update of a server of any kind.
type serverPatch struct {
	Name        string  `json:"name,omitempty" minLength:"1" maxLength:"255"`
	Description *string `json:"description,omitempty" nullable:"true" maxLength:"500"`
	WorkspaceID string  `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

// mcpServerView is a server as clients see it.
type mcpServerView struct {
	ID              string             `json:"id" format:"uuid"`
	Slug            string             `json:"slug"`
	Name            string             `json:"name"`
	Description     *string            `json:"description" nullable:"true"`
	Status          string             `json:"status" enum:"active,archived" doc:"archived while the workspace does not have access to the integration"`
	OrganisationID  string             `json:"organisation_id" format:"uuid"`
	OwnerID         string             `json:"owner_id"`
	WorkspaceID     *string            `json:"workspace_id" nullable:"true" format:"uuid"`
	WorkspaceName   *string            `json:"workspace_name" nullable:"true"`
	WorkspaceSlug   *string            `json:"workspace_slug" nullable:"true"`
	IntegrationID   string             `json:"mcp_integration_id" format:"uuid"`
	IntegrationSlug *string            `json:"mcp_integration_slug" nullable:"true"`
	IntegrationURL  *string            `json:"mcp_integration_url" nullable:"true"`
	Integration     *mcpServerUpstream `json:"mcp_integration_details,omitempty" doc:"Only in the response for a single server, for keys without a user"`
	AuthType        string             `json:"auth_type" enum:"oauth_auto,headers,none,oauth_client_credentials"`
	URL             string             `json:"url" doc:"URL that clients connect to"`
	Metadata        mcpMetadataView    `json:"metadata"`
	CreatedAt       resource.Stamp     `json:"created_at"`
	LastUpdatedAt   resource.Stamp     `json:"last_updated_at"`
	Object          string             `json:"object" enum:"mcp-server"`
}

// mcpServerUpstream is the integration of a server.
type mcpServerUpstream struct {
	ID             string                         `json:"id" format:"uuid"`
	Slug           string                         `json:"slug"`
	Status         string                         `json:"status" enum:"active,archived"`
	Configurations jsonfield.Nullable[maskedView] `json:"configurations"`
	URL            string                         `json:"url"`
	Transport      string                         `json:"transport" enum:"http,sse,interactive"`
	AuthType       string                         `json:"auth_type" enum:"oauth_auto,headers,none,oauth_client_credentials"`
}

func (k mcpServers) viewMCPServer(ctx context.Context, c *resource.Call, r resource.Row[mcp.Server], detail bool) (mcpServerView, error) {
	s := r.Value
	v := mcpServerView{
		ID: r.ID, Slug: r.Slug, Name: s.Name, Description: jsonfield.OrNull(s.Description), OrganisationID: r.OrgID, OwnerID: s.OwnerID, WorkspaceID: jsonfield.OrNull(r.WorkspaceID),
		IntegrationID: s.IntegrationID, URL: k.MCPURL + "/" + r.Slug + "/mcp", CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated), Object: "mcp-server",
	}
	workspace, err := c.Reader.Find(ctx, "workspace", r.WorkspaceID)
	if err != nil {
		return v, err
	}
	integration, found, err := k.findServerDiscovery(ctx, c.Reader, &s)
	if err != nil {
		return v, err
	}
	v.WorkspaceName, v.WorkspaceSlug = jsonfield.OrNull(workspace.Name), jsonfield.OrNull(workspace.ShownSlug())
	v.Status, v.AuthType, v.Metadata = serverStatus(integration.Record, r.WorkspaceID), string(integration.Value.AuthType), viewMetadata(found)
	v.IntegrationSlug, v.IntegrationURL = jsonfield.OrNull(integration.Slug), jsonfield.OrNull(sealed.Address(integration.Value.URL))
	if detail && c.Principal.UserID == "" {
		config, err := k.kind().shown(integration)
		if err != nil {
			return v, err
		}
		v.Integration = &mcpServerUpstream{integration.ID, integration.Slug, integration.Status, config, sealed.Address(integration.Value.URL), string(integration.Value.Transport), v.AuthType}
	}
	return v, nil
}
