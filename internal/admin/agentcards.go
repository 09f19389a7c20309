package admin

import (
	"context"
	"fmt"
	"net/http"

	"sluice/internal/access"
	"sluice/internal/agent"
	"sluice/internal/fault"
	"sluice/internal/resource"
	"sluice/internal/sealed"
)

// linkCard is the set that keeps the card of an agent beside its integration.
const linkCard = "agent_integration.card"

// readCard is the card that was fetched last; nil for none.
func readCard(ctx context.Context, from resource.Reader, integrationID string) (*agent.Card, error) {
	raw, err := sideDataOf(ctx, from, linkCard, integrationID)
	if err != nil || raw == nil {
		return nil, err
	}
	card, err := agent.ReadCard(raw)
	if err != nil {
		return nil, fmt.Errorf("read the card of agent integration %s: %w", integrationID, err)
	}
	return card, nil
}

// findServerCard is the integration of a server, and the card that was fetched last.
func (k deps) findServerCard(ctx context.Context, from resource.Reader, s *agent.Server) (*resource.Row[agent.Integration], *agent.Card, error) {
	integration, err := k.agents().findIntegration(ctx, from, s)
	if err != nil {
		return nil, nil, err
	}
	card, err := readCard(ctx, from, integration.ID)
	return integration, card, err
}

// rawCard is a card as the agent wrote it; nil for none.
func rawCard(card *agent.Card) objectOrNull {
	if card == nil {
		return nil
	}
	return objectOrNull(encode(card.Raw))
}

// noteCard keeps a card; nil takes the present one away.
func (k deps) noteCard(ctx context.Context, integrationID string, card *agent.Card) {
	k.putSideData(ctx, linkCard, integrationID, func(resource.Tx) ([]byte, error) {
		if card == nil {
			return nil, nil
		}
		return encode(card.Raw), nil
	})
}

// receiveAgent answers a creation. The card is fetched behind it: an agent that is away
// can be registered all the same.
func (k deps) receiveAgent(ctx context.Context, c *resource.Call, ch *resource.Edit[agent.Integration]) (any, error) {
	if card, _, err := k.cardOf(ctx, c, ch.New, ch.New.WorkspaceID); err == nil {
		k.noteCard(ctx, ch.New.ID, card)
	}
	return integrationReceipt{ch.New.ID, ch.New.Slug}, nil
}

// agentChanged fetches the card anew when an update changed how it is reached. The card
// of another address says nothing of the new one.
func (k deps) agentChanged(ctx context.Context, c *resource.Call, ch *resource.Edit[agent.Integration]) (any, error) {
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

// tryAgent fetches the card of an agent and keeps it.
func (k deps) tryAgent(ctx context.Context, c *resource.Call, r resource.Row[agent.Integration]) (any, error) {
	v := trialView{ServerName: r.Value.Name, URL: new(sealed.Address(r.Value.URL)), Object: "agent-integration"}
	card, out, err := k.cardOf(ctx, c, &r, r.WorkspaceID)
	v.setOutcome(out, err)
	if err == nil {
		v.ServerName = clip(card.Name, 255)
		k.noteCard(ctx, r.ID, card)
	}
	return v, nil
}

// cardOf fetches the card of a registered agent, with the secrets that the workspace place
// or, with "", the organisation may use.
func (k deps) cardOf(ctx context.Context, c *resource.Call, r *resource.Row[agent.Integration], workspaceID string) (*agent.Card, outcome, error) {
	header, err := k.agents().headers(ctx, c, r, workspaceID)
	if err != nil {
		return nil, outcome{}, err
	}
	return k.fetchCard(ctx, r.Value.URL, header)
}

// fetchCard looks for a card at the places where agents keep theirs.
func (k deps) fetchCard(ctx context.Context, address string, header http.Header) (*agent.Card, outcome, error) {
	if err := k.Guard.CheckURL(address); err != nil {
		return nil, outcome{}, err
	}
	header = header.Clone()
	header.Set("Accept", "application/json")
	var refused outcome // the first, unless it only says that the card is not there
	for _, url := range agent.CardURLs(address) {
		out, err := k.try(ctx, trial{method: http.MethodGet, url: url, header: header, maxBytes: agent.MaxCardBytes})
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

// fetchCardIn is the body of fetching a card.
type fetchCardIn struct {
	OwnerIn
	URL     string            `json:"url" maxLength:"2048" doc:"Base URL of the agent, or the address of its card"`
	Headers map[string]string `json:"headers,omitempty" writeOnly:"true" maxProperties:"100" doc:"Headers that authenticate the request"`
}

// agentCard is an agent card as the agent wrote it.
type agentCard map[string]any

// cardFetcher is the route by which a card is looked at before an agent is registered.
// It has no record, so it is no action of one.
// Source: contract/content-and-observability.yaml, POST /v2/agent-integrations/fetch-agent-card.
func (k deps) cardFetcher() resource.Resource {
	return resource.Operations{{
		Method: http.MethodPost, Path: "/agent-integrations/fetch-agent-card", ID: "fetchAgentCard", Summary: "Fetch and validate the card of an agent", Tag: "Agent integrations",
		Scopes: k.agents().scopes("create", nil), Anywhere: true, Body: fetchCardIn{}, Response: agentCard{},
		Run: func(ctx context.Context, c *resource.Call) (any, error) {
			// where it counts is decided as for the integration that is to be made
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
			return encode(card.Raw), nil
		},
	}}
}

func (k deps) cardScopes(c *resource.Call) []access.Scope {
	r := &resource.Row[agent.Integration]{}
	r.WorkspaceID = c.WorkspaceID
	return k.agents().scopes("create", r)
}
