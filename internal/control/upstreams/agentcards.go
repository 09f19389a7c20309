package upstreams

import (
	"context"
	"fmt"
	"net/http"

	"sluice/internal/control/grants"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/sidedata"
	"sluice/internal/domain/agent"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
)

// linkCard is the link set that stores the card of an agent with its integration.
const linkCard = "agent_integration.card"

// readCard returns the card that was fetched last; nil for none.
func readCard(ctx context.Context, from resource.Reader, integrationID string) (*agent.Card, error) {
	raw, err := sidedata.Find(ctx, from, linkCard, integrationID)
	if err != nil || raw == nil {
		return nil, err
	}
	card, err := agent.ReadCard(raw)
	if err != nil {
		return nil, fmt.Errorf("read the card of agent integration %s: %w", integrationID, err)
	}
	return card, nil
}

// findServerCard returns the integration of a server and the card that was fetched last.
func (k agents) findServerCard(ctx context.Context, from resource.Reader, s *agent.Server) (*resource.Row[agent.Integration], *agent.Card, error) {
	integration, err := k.kind().findIntegration(ctx, from, s)
	if err != nil {
		return nil, nil, err
	}
	card, err := readCard(ctx, from, integration.ID)
	return integration, card, err
}

// rawCard returns a card as the agent wrote it; nil for none.
func rawCard(card *agent.Card) objectOrNull {
	if card == nil {
		return nil
	}
	return objectOrNull(jsonfield.Encode(card.Raw))
}

// noteCard stores a card; nil deletes the present one.
func (k agents) noteCard(ctx context.Context, integrationID string, card *agent.Card) {
	k.SideData.Put(ctx, linkCard, integrationID, func(resource.Tx) ([]byte, error) {
		if card == nil {
			return nil, nil
		}
		return jsonfield.Encode(card.Raw), nil
	})
}

// receiveAgent builds the response to a creation. It fetches the card after the record is
// stored, so that an unavailable agent can be registered too.
func (k agents) receiveAgent(ctx context.Context, c *resource.Call, ch *resource.Edit[agent.Integration]) (any, error) {
	if card, _, err := k.cardOf(ctx, c, ch.New, ch.New.WorkspaceID); err == nil {
		k.noteCard(ctx, ch.New.ID, card)
	}
	return grants.IntegrationReceipt{ID: ch.New.ID, Slug: ch.New.Slug}, nil
}

// agentChanged fetches the card again if an update changed how the agent is reached. The card
// from the old address does not describe the new one.
func (k agents) agentChanged(ctx context.Context, c *resource.Call, ch *resource.Edit[agent.Integration]) (any, error) {
	moved := ch.Old.Value.URL != ch.New.Value.URL
	if !moved && !ch.Sent.Has("configurations") && !ch.Sent.Has("secret_mappings") && !ch.Sent.Has("auth_type") {
		return resource.Empty{}, nil
	}
	card, _, err := k.cardOf(ctx, c, ch.New, ch.New.WorkspaceID)
	if err == nil || moved {
		k.noteCard(ctx, ch.New.ID, card)
	}
	return resource.Empty{}, nil
}

// tryAgent fetches the card of an agent and stores it.
func (k agents) tryAgent(ctx context.Context, c *resource.Call, r resource.Row[agent.Integration]) (any, error) {
	v := trialView{ServerName: r.Value.Name, URL: new(sealed.Address(r.Value.URL)), Object: "agent-integration"}
	card, out, err := k.cardOf(ctx, c, &r, r.WorkspaceID)
	v.setOutcome(out, err)
	if err == nil {
		v.ServerName = clip(card.Name, 255)
		k.noteCard(ctx, r.ID, card)
	}
	return v, nil
}

// cardOf fetches the card of a registered agent. It uses the secrets that the workspace may use
// or, if workspaceID is empty, those of the organisation.
func (k agents) cardOf(ctx context.Context, c *resource.Call, r *resource.Row[agent.Integration], workspaceID string) (*agent.Card, outcome, error) {
	header, err := k.kind().headers(ctx, c, r, workspaceID)
	if err != nil {
		return nil, outcome{}, err
	}
	return k.fetchCard(ctx, r.Value.URL, header)
}

// fetchCard fetches a card from the URLs where agents publish theirs.
func (k agents) fetchCard(ctx context.Context, address string, header http.Header) (*agent.Card, outcome, error) {
	if err := k.Addresses.CheckURL(address); err != nil {
		return nil, outcome{}, err
	}
	header = header.Clone()
	header.Set("Accept", "application/json")
	var refused outcome // the first failure other than a missing card, otherwise a missing card
	for _, url := range agent.CardURLs(address) {
		out, err := prober(k).try(ctx, trial{method: http.MethodGet, url: url, header: header, maxBytes: agent.MaxCardBytes})
		if err != nil {
			return nil, out, err
		}
		if out.status == http.StatusOK {
			card, err := agent.ReadCard(out.body)
			return card, out, err
		}
		if refused.status == 0 || refused.status == http.StatusNotFound {
			refused = out
		}
	}
	return nil, refused, fault.Newf(fault.InvalidRequest, "the agent returned status %d instead of its card", refused.status)
}

// fetchCardIn is the request body for fetching a card.
type fetchCardIn struct {
	jsonfield.OwnerIn
	URL     string            `json:"url" maxLength:"2048" doc:"Base URL of the agent, or the address of its card"`
	Headers map[string]string `json:"headers,omitempty" writeOnly:"true" maxProperties:"100" doc:"Headers that authenticate the request"`
}

// agentCard is an agent card as the agent wrote it.
type agentCard map[string]any

// cardFetcher is the route that fetches a card before an agent is registered. There is no record
// yet, so it is not an action of a kind.
// Source: contract/content-and-observability.yaml, POST /v2/agent-integrations/fetch-agent-card.
func (k agents) cardFetcher() resource.Resource {
	return resource.Operations{{
		Method: http.MethodPost, Path: "/agent-integrations/fetch-agent-card", ID: "fetchAgentCard", Summary: "Fetch and validate the card of an agent", Tag: "Agent integrations",
		Scopes: k.kind().scopes("create", nil), Anywhere: true, Body: fetchCardIn{}, Response: agentCard{},
		Run: func(ctx context.Context, c *resource.Call) (any, error) {
			// permissions are checked as for the integration that will be created
			if err := c.May(k.cardScopes(c), access.Target{OrgID: c.OrgID, WorkspaceID: c.WorkspaceID}); err != nil {
				return nil, err
			}
			var headers map[string]any
			if err := c.Sent.Into("headers", &headers); err != nil {
				return nil, err
			}
			if err := agent.CheckHeaders(headers, "headers"); err != nil {
				return nil, err
			}
			h := http.Header{}
			for name, v := range headers {
				if s, ok := v.(string); ok {
					h.Set(name, s)
				}
			}
			card, _, err := k.fetchCard(ctx, c.Sent.Text("url"), h)
			if err != nil {
				return nil, fault.From(err).WithParam("url")
			}
			return jsonfield.Encode(card.Raw), nil
		},
	}}
}

func (k agents) cardScopes(c *resource.Call) []access.Scope {
	r := &resource.Row[agent.Integration]{}
	r.WorkspaceID = c.WorkspaceID
	return k.kind().scopes("create", r)
}
