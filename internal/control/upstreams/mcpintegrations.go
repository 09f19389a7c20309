package upstreams

import (
	"context"
	"net/http"

	"sluice/internal/control/grants"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/control/secretmapping"
	"sluice/internal/domain/mcp"
	"sluice/internal/kernel/sealed"
)

// integrations defines upstream tool servers of the organisation or of one workspace. Each has
// credentials and the workspaces that may use it.
// Source: contract/content-and-observability.yaml, mcp-integrations; .md section 9.
func (k mcpServers) integrations() resource.Resource {
	f := k.kind()
	return &resource.Kind[mcp.Integration, mcpIntegrationView]{
		Name: mcp.IntegrationKind, Object: "mcp-integration", Title: "MCP integration", Tag: "MCP integrations", Audited: "mcp_integrations",
		Path: "/mcp-integrations", Param: "mcpIntegrationId", Scopes: f.scopes, Verbs: resource.AllVerbs, PageSize: 100, HasMore: true,
		Scope: resource.Located, Locate: grants.LocateLevel[mcp.Integration],
		Create: mcpIntegrationIn{}, Update: mcpIntegrationPatch{}, PreparedFields: []string{"configurations", "secret_mappings"}, Hides: f.hidesInBody,
		Filters: []resource.Filter{listing.OrganisationFilter(), grants.LevelFilter(), listing.SearchFilter()}, Select: grants.SelectLevels(f.stem), Prepare: f.prepare, Index: f.index, After: f.after,
		Refs:    []resource.Ref[mcp.Integration]{secretmapping.Ref(func(integration *mcp.Integration) []sealed.Mapping { return integration.Mappings })},
		View:    k.viewMCPIntegration,
		Receipt: &resource.WriteResponse[mcp.Integration]{Shape: grants.IntegrationReceipt{}, Make: receiveUpstream[mcp.Integration]},
		Actions: append(append(f.grantActions("McpIntegration"), k.mcpIntegrationCapabilities()...), k.mcpIntegrationChecks()...),
	}
}

// kind describes tool servers for the code that handles tool servers and agents alike.
func (k mcpServers) kind() *serverKind[mcp.Integration, mcp.Server] {
	return &serverKind[mcp.Integration, mcp.Server]{
		k: k.Deps, integration: mcp.IntegrationKind, server: mcp.ServerKind, title: "MCP integration", stem: "mcp_integrations", field: "mcp_integration_id", sideDataSet: linkFound,
		upstreamOf: func(integration *mcp.Integration) upstream {
			return upstream{
				name: integration.Name, url: &integration.URL, headers: integration.AuthType == mcp.AuthHeaders, config: &integration.Configurations, global: &integration.Global, owner: &integration.OwnerID,
				mappings: &integration.Mappings,
			}
		},
		fieldsOf: func(s *mcp.Server) serverFields {
			return serverFields{integrationID: &s.IntegrationID, owner: &s.OwnerID, deny: &s.Deny, users: &s.Users}
		},
		found: func(name, integrationID, owner string) mcp.Server {
			return mcp.Server{Name: name, IntegrationID: integrationID, OwnerID: owner}
		},
		put: func(ctx context.Context, tx resource.Tx, c *resource.Call, r *resource.Row[mcp.Server], to resource.Record) error {
			return k.servers().PutLinked(ctx, tx, c, r, to)
		},
		check: mcp.CheckConfigurations, addresses: mcp.Addresses, hides: mcp.Hides, mappable: mcp.Mappable,
	}
}

func receiveUpstream[T any](_ context.Context, _ *resource.Call, ch *resource.Edit[T]) (any, error) {
	return grants.IntegrationReceipt{ID: ch.New.ID, Slug: ch.New.Slug}, nil
}

// mcpIntegrationChecks read the self-description of an upstream, and test it.
func (k mcpServers) mcpIntegrationChecks() []resource.Action[mcp.Integration] {
	return []resource.Action[mcp.Integration]{
		{
			Name: "read", Method: http.MethodGet, Path: "/metadata", ID: "getMcpIntegrationMetadata", Summary: "Get the metadata of the upstream server",
			Response: mcpMetadataView{}, Read: func(ctx context.Context, c *resource.Call, r resource.Row[mcp.Integration]) (any, error) {
				found, err := readFound(ctx, c.Reader, r.ID)
				return viewMetadata(found), err
			},
		},
		{
			Name: "read", Method: http.MethodPost, Path: "/test", ID: "testMcpIntegration", Summary: "Test the connection to the upstream server",
			Response: trialView{}, Read: func(ctx context.Context, c *resource.Call, r resource.Row[mcp.Integration]) (any, error) {
				return k.testMCPServer(ctx, c, &r, r.WorkspaceID, trialView{ServerName: r.Value.Name, Object: "mcp-integration"})
			},
		},
	}
}

// mcpIntegrationIn is the body of a creation.
type mcpIntegrationIn struct {
	jsonfield.OwnerIn
	Name           string                          `json:"name" minLength:"1" maxLength:"255"`
	URL            string                          `json:"url" maxLength:"2048" doc:"http or https URL, not in a private network"`
	AuthType       string                          `json:"auth_type" enum:"oauth_auto,headers,none,oauth_client_credentials"`
	Transport      string                          `json:"transport" enum:"http,sse"`
	Slug           string                          `json:"slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"Unique in the organisation; generated when absent"`
	Description    *string                         `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	Configurations map[string]any                  `json:"configurations,omitempty" nullable:"true" doc:"custom_headers, passthrough_header, forward_headers, oauth_metadata, user_identity_forwarding, jwt_validation, external_auth_config; others are stored"`
	Mappings       []secretmapping.SecretMappingIn `json:"secret_mappings,omitempty" nullable:"false" maxItems:"50" doc:"Fields that are read from secret managers at call time, for example configurations.custom_headers.Authorization"`
}

// mcpIntegrationPatch is the body of an update.
type mcpIntegrationPatch struct {
	jsonfield.OwnerIn
	Name           string                          `json:"name,omitempty" minLength:"1" maxLength:"255"`
	URL            string                          `json:"url,omitempty" maxLength:"2048" doc:"New URL; another host requires the secrets of the configurations again"`
	AuthType       string                          `json:"auth_type,omitempty" enum:"oauth_auto,headers,none,oauth_client_credentials"`
	Transport      string                          `json:"transport,omitempty" enum:"http,sse"`
	Description    *string                         `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	Configurations map[string]any                  `json:"configurations,omitempty" nullable:"true" doc:"Replaces all; a secret may be sent back as the mask that was returned"`
	Mappings       []secretmapping.SecretMappingIn `json:"secret_mappings,omitempty" nullable:"false" maxItems:"50" doc:"Replaces all; an empty list removes them"`
}

// mcpIntegrationView is an integration as clients see it. Its configurations are shown only when
// one is read, and workspaces_count only in lists.
type mcpIntegrationView struct {
	ID              string                            `json:"id" format:"uuid"`
	Slug            string                            `json:"slug"`
	Name            string                            `json:"name"`
	Description     *string                           `json:"description" nullable:"true"`
	OwnerID         string                            `json:"owner_id"`
	Status          string                            `json:"status" enum:"active,archived"`
	Type            string                            `json:"type" enum:"workspace,organisation"`
	URL             string                            `json:"url"`
	AuthType        string                            `json:"auth_type" enum:"oauth_auto,headers,none,oauth_client_credentials"`
	Transport       string                            `json:"transport" enum:"http,sse,interactive"`
	Configurations  jsonfield.Nullable[maskedView]    `json:"configurations"`
	Global          jsonfield.Nullable[globalView]    `json:"global_workspace_access"`
	WorkspaceID     *string                           `json:"workspace_id" nullable:"true" format:"uuid"`
	WorkspacesCount *int                              `json:"workspaces_count,omitempty" doc:"Number of workspaces that may use it"`
	Mappings        []secretmapping.SecretMappingView `json:"secret_mappings" nullable:"false"`
	Metadata        mcpMetadataView                   `json:"metadata"`
	CreatedAt       resource.Stamp                    `json:"created_at"`
	LastUpdatedAt   resource.Stamp                    `json:"last_updated_at"`
	Object          string                            `json:"object" enum:"mcp-integration"`
}

func (k mcpServers) viewMCPIntegration(ctx context.Context, c *resource.Call, r resource.Row[mcp.Integration], detail bool) (mcpIntegrationView, error) {
	integration, f := r.Value, k.kind()
	v := mcpIntegrationView{
		ID: r.ID, Slug: r.Slug, Name: integration.Name, Description: jsonfield.OrNull(integration.Description), OwnerID: integration.OwnerID, Status: r.Status, Type: grants.LevelOf(r.WorkspaceID),
		URL: sealed.Address(integration.URL), AuthType: string(integration.AuthType), Transport: string(integration.Transport), Global: globalOf(integration.Global), WorkspaceID: jsonfield.OrNull(r.WorkspaceID),
		Mappings: secretmapping.View(integration.Mappings), CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated), Object: "mcp-integration",
	}
	found, err := readFound(ctx, c.Reader, r.ID)
	if err != nil {
		return v, err
	}
	v.Metadata = viewMetadata(found)
	v.WorkspacesCount, v.Configurations, err = f.listedOrRead(&r, detail)
	return v, err
}
