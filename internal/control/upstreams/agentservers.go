package upstreams

import (
	"context"
	"net/http"
	"slices"

	"sluice/internal/control/grants"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/agent"
	"sluice/internal/kernel/fault"
)

// servers defines the upstream agents in workspaces; clients call them.
// Source: contract/content-and-observability.yaml, agent-servers; .md section 11.
func (k agents) servers() *resource.Kind[agent.Server, agentServerView] {
	f := k.kind()
	return &resource.Kind[agent.Server, agentServerView]{
		Name: agent.ServerKind, Object: "agent-server", Title: "agent server", Tag: "Agent servers", Audited: "agent_servers",
		Path: "/agent-servers", Param: "agentServerId", Perm: "agent_servers", Verbs: resource.AllVerbs, Scope: resource.InWorkspace,
		PageSize: 100, PageMax: 100,
		Create: agentServerIn{}, Update: serverPatch{},
		Filters: []resource.Filter{listing.NamesFilter("id"), listing.SearchFilter()},
		Select:  listing.FilterByNames("id", agent.ServerKind),
		Prepare: f.prepareServer,
		Refs:    []resource.Ref[agent.Server]{f.refer()},
		View:    k.viewAgentServer,
		Receipt: &resource.WriteResponse[agent.Server]{Shape: grants.IntegrationReceipt{}, Make: receiveUpstream[agent.Server]},
		Actions: slices.Concat(f.accessActions("AgentServer", "agent_server_user_access"), k.agentServerSkills(), []resource.Action[agent.Server]{{
			Name: "read", Method: http.MethodGet, Path: "/agent-card", ID: "getAgentServerCard", Summary: "Get the card of a server's agent",
			Response: agentCard{}, Read: k.serverCard,
		}}),
	}
}

// serverCard fetches the card of the agent. If the agent is unavailable, it shows the card that
// was fetched before.
func (k agents) serverCard(ctx context.Context, c *resource.Call, r resource.Row[agent.Server]) (any, error) {
	integration, card, err := k.findServerCard(ctx, c.Reader, &r.Value)
	if err != nil {
		return nil, err
	}
	var fresh *agent.Card
	failed := error(fault.New(fault.NotFound, "the workspace does not have access to the integration of this server"))
	if isServerUsable(integration.Record, r.WorkspaceID) {
		fresh, _, failed = k.cardOf(ctx, c, integration, r.WorkspaceID)
	}
	switch {
	case failed == nil:
		card = fresh
		k.noteCard(ctx, integration.ID, card)
	case card == nil:
		return nil, failed
	}
	return jsonfield.Encode(card.Raw), nil
}

// agentServerIn is the body of a creation.
type agentServerIn struct {
	Name          string  `json:"name" minLength:"1" maxLength:"255"`
	IntegrationID string  `json:"agent_integration_id" minLength:"1" maxLength:"255" doc:"Id or slug of an integration that the workspace may use"`
	Description   *string `json:"description,omitempty" nullable:"true" maxLength:"500"`
	Slug          string  `json:"slug,omitempty" minLength:"3" maxLength:"50" pattern:"^[a-zA-Z0-9_-]+$" doc:"Unique in the organisation; generated when absent"`
	WorkspaceID   string  `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

// agentServerView is a server as clients see it.
type agentServerView struct {
	ID              string         `json:"id" format:"uuid"`
	Slug            string         `json:"slug"`
	Name            string         `json:"name"`
	Description     *string        `json:"description" nullable:"true"`
	IntegrationID   string         `json:"agent_integration_id" format:"uuid"`
	IntegrationSlug *string        `json:"agent_integration_slug" nullable:"true"`
	OwnerID         string         `json:"owner_id"`
	WorkspaceID     string         `json:"workspace_id" format:"uuid"`
	Status          string         `json:"status" enum:"active,archived" doc:"archived while the workspace does not have access to the integration"`
	URL             string         `json:"url" doc:"URL that clients call"`
	CreatedAt       resource.Stamp `json:"created_at"`
	LastUpdatedAt   resource.Stamp `json:"last_updated_at"`
	Object          string         `json:"object" enum:"agent-server"`
}

func (k agents) viewAgentServer(ctx context.Context, c *resource.Call, r resource.Row[agent.Server], _ bool) (agentServerView, error) {
	s := r.Value
	v := agentServerView{
		ID: r.ID, Slug: r.Slug, Name: s.Name, Description: jsonfield.OrNull(s.Description), IntegrationID: s.IntegrationID, OwnerID: s.OwnerID, WorkspaceID: r.WorkspaceID,
		URL: k.ConsoleURL + "/v1/agent/" + r.Slug, CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated), Object: "agent-server",
	}
	integration, err := c.Reader.Find(ctx, agent.IntegrationKind, s.IntegrationID)
	if err != nil {
		return v, err
	}
	v.Status, v.IntegrationSlug = serverStatus(integration, r.WorkspaceID), jsonfield.OrNull(integration.ShownSlug())
	return v, nil
}
