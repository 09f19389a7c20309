package upstreams

import (
	"context"
	"net/http"

	"sluice/internal/control/grants"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/control/secretmapping"
	"sluice/internal/domain/agent"
	"sluice/internal/kernel/sealed"
)

// integrations defines upstream agents of the organisation or of one workspace. Each has
// credentials and the workspaces that may use it.
// Source: contract/content-and-observability.yaml, agent-integrations; .md section 11.
func (k agents) integrations() resource.Resource {
	f := k.kind()
	return &resource.Kind[agent.Integration, agentIntegrationView]{
		Name: agent.IntegrationKind, Object: "agent-integration", Title: "agent integration", Tag: "Agent integrations", Audited: "agent_integrations",
		Path: "/agent-integrations", Param: "agentIntegrationId", Scopes: f.scopes, Verbs: resource.AllVerbs, PageSize: 100, HasMore: true,
		Scope: resource.Located, Locate: grants.LocateLevel[agent.Integration],
		Create: agentIntegrationIn{}, Update: agentIntegrationPatch{}, PreparedFields: []string{"configurations", "secret_mappings"}, Hides: f.hidesInBody,
		Filters: []resource.Filter{listing.OrganisationFilter(), grants.LevelFilter(), listing.SearchFilter()}, Select: grants.SelectLevels(f.stem), Index: f.index, After: f.after,
		Prepare: func(ctx context.Context, c *resource.Call, ch *resource.Edit[agent.Integration]) error {
			if ch.New.Value.AuthType == "" {
				ch.New.Value.AuthType = agent.AuthNone
			}
			return f.prepare(ctx, c, ch)
		},
		Refs:    []resource.Ref[agent.Integration]{secretmapping.Ref(func(integration *agent.Integration) []sealed.Mapping { return integration.Mappings })},
		View:    k.viewAgentIntegration,
		Receipt: &resource.WriteResponse[agent.Integration]{Shape: grants.IntegrationReceipt{}, Make: k.receiveAgent},
		Done:    &resource.WriteResponse[agent.Integration]{Shape: resource.Empty{}, Make: k.agentChanged},
		Actions: append(append(f.grantActions("AgentIntegration"), k.agentIntegrationSkills()...), resource.Action[agent.Integration]{
			Name: "read", Method: http.MethodPost, Path: "/test", ID: "testAgentIntegration", Summary: "Fetch the card of an agent again",
			Response: trialView{}, Read: k.tryAgent,
		}),
	}
}

// kind describes agents for the code that handles tool servers and agents alike.
func (k agents) kind() *serverKind[agent.Integration, agent.Server] {
	return &serverKind[agent.Integration, agent.Server]{
		k: k.Deps, integration: agent.IntegrationKind, server: agent.ServerKind, title: "agent integration", stem: "agent_integrations", field: "agent_integration_id", sideDataSet: linkCard,
		upstreamOf: func(integration *agent.Integration) upstream {
			return upstream{
				name: integration.Name, url: &integration.URL, headers: integration.AuthType == agent.AuthHeaders, config: &integration.Configurations, global: &integration.Global, owner: &integration.OwnerID,
				mappings: &integration.Mappings,
			}
		},
		fieldsOf: func(s *agent.Server) serverFields {
			return serverFields{integrationID: &s.IntegrationID, owner: &s.OwnerID, deny: &s.Deny, users: &s.Users}
		},
		found: func(name, integrationID, owner string) agent.Server {
			return agent.Server{Name: name, IntegrationID: integrationID, OwnerID: owner}
		},
		put: func(ctx context.Context, tx resource.Tx, c *resource.Call, r *resource.Row[agent.Server], to resource.Record) error {
			return k.servers().PutLinked(ctx, tx, c, r, to)
		},
		check: agent.CheckConfigurations, addresses: func(map[string]any) map[string]string { return nil }, hides: agent.Hides, mappable: agent.Mappable,
	}
}

// agentIntegrationIn is the body of a creation.
type agentIntegrationIn struct {
	jsonfield.OwnerIn
	Name           string                          `json:"name" minLength:"1" maxLength:"255"`
	URL            string                          `json:"url" maxLength:"2048" doc:"Base URL of the agent, or the address of its card; http or https, not in a private network"`
	Slug           string                          `json:"slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"Unique in the organisation; generated when absent"`
	Description    *string                         `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	AuthType       string                          `json:"auth_type,omitempty" enum:"none,headers" default:"none"`
	Configurations map[string]any                  `json:"configurations,omitempty" nullable:"true" doc:"Settings of the integration: custom_headers"`
	Mappings       []secretmapping.SecretMappingIn `json:"secret_mappings,omitempty" nullable:"false" maxItems:"50" doc:"Headers that are read from secret managers at call time, for example configurations.custom_headers.Authorization"`
}

// agentIntegrationPatch is the body of an update.
type agentIntegrationPatch struct {
	jsonfield.OwnerIn
	Name           string                          `json:"name,omitempty" minLength:"1" maxLength:"255"`
	URL            string                          `json:"url,omitempty" maxLength:"2048" doc:"New URL; another host requires the secrets of the configurations again"`
	Description    *string                         `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	AuthType       string                          `json:"auth_type,omitempty" enum:"none,headers"`
	Configurations map[string]any                  `json:"configurations,omitempty" nullable:"true" doc:"Replaces all; a secret may be sent back as the mask that was returned"`
	Mappings       []secretmapping.SecretMappingIn `json:"secret_mappings,omitempty" nullable:"false" maxItems:"50" doc:"Replaces all; an empty list removes them"`
}

// agentIntegrationView is an integration as clients see it. Its card and configurations are
// shown only when one integration is read, and workspaces_count only in lists.
type agentIntegrationView struct {
	ID              string                            `json:"id" format:"uuid"`
	Slug            string                            `json:"slug"`
	Name            string                            `json:"name"`
	Description     *string                           `json:"description" nullable:"true"`
	URL             string                            `json:"url"`
	Protocol        string                            `json:"protocol" enum:"a2a"`
	AuthType        string                            `json:"auth_type" enum:"none,headers"`
	Configurations  jsonfield.Nullable[maskedView]    `json:"configurations"`
	AgentCard       objectOrNull                      `json:"agent_card" doc:"Card from the last fetch"`
	Type            string                            `json:"type" enum:"organisation,workspace"`
	WorkspaceID     *string                           `json:"workspace_id" nullable:"true" format:"uuid"`
	Global          jsonfield.Nullable[globalView]    `json:"global_workspace_access"`
	WorkspacesCount *int                              `json:"workspaces_count,omitempty" doc:"Number of workspaces that may use it"`
	Status          string                            `json:"status" enum:"active,archived"`
	OwnerID         string                            `json:"owner_id"`
	Mappings        []secretmapping.SecretMappingView `json:"secret_mappings" nullable:"false"`
	CreatedAt       resource.Stamp                    `json:"created_at"`
	LastUpdatedAt   resource.Stamp                    `json:"last_updated_at"`
	Object          string                            `json:"object" enum:"agent-integration"`
}

func (k agents) viewAgentIntegration(ctx context.Context, c *resource.Call, r resource.Row[agent.Integration], detail bool) (v agentIntegrationView, err error) {
	integration, f := r.Value, k.kind()
	v = agentIntegrationView{
		ID: r.ID, Slug: r.Slug, Name: integration.Name, Description: jsonfield.OrNull(integration.Description), URL: sealed.Address(integration.URL), Protocol: agent.A2A, AuthType: string(integration.AuthType),
		Type: grants.LevelOf(r.WorkspaceID), WorkspaceID: jsonfield.OrNull(r.WorkspaceID), Global: globalOf(integration.Global), Status: r.Status, OwnerID: integration.OwnerID,
		Mappings: secretmapping.View(integration.Mappings), CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated), Object: "agent-integration",
	}
	if detail {
		card, err := readCard(ctx, c.Reader, r.ID)
		if err != nil {
			return v, err
		}
		v.AgentCard = rawCard(card)
	}
	v.WorkspacesCount, v.Configurations, err = f.listedOrRead(&r, detail)
	return v, err
}
