package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"sluice/internal/credential"
	"sluice/internal/fault"
	"sluice/internal/resource"
)

// linkWorkspaces is the set of links of an integration to the workspaces that it was
// granted to.
const linkWorkspaces = "integration.workspaces"

// maxGrants bounds the workspaces that one integration is granted to one by one.
const maxGrants = 900

// grantActions read and change which workspaces may use an integration of the
// organisation. Source: contract/identity-and-governance.yaml,
// /integrations/{slug}/workspaces; .md section 12.
func (k kinds) grantActions() []resource.Action[credential.Integration] {
	return []resource.Action[credential.Integration]{
		{
			Name: "read", Method: http.MethodGet, Path: "/workspaces", ID: "listIntegrationWorkspaces", Summary: "List the workspaces that may use an integration",
			Answer: grantsView{}, Read: k.viewGrants,
		},
		{
			Name: "manage", Scope: "update", Method: http.MethodPut, Path: "/workspaces", ID: "updateIntegrationWorkspaces",
			Summary: "Grant an integration to workspaces, or take it away", Body: grantsIn{}, Run: k.putGrants,
		},
	}
}

type grantsIn struct {
	Workspaces   []grantIn `json:"workspaces,omitempty" nullable:"false" maxItems:"900"`
	Global       *globalIn `json:"global_workspace_access,omitempty"`
	Override     bool      `json:"override_existing_workspace_access,omitempty" doc:"the list replaces all present grants"`
	MakeProvider bool      `json:"create_default_provider,omitempty" default:"true"`
	ProviderSlug string    `json:"default_provider_slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"by default that of the integration"`
}

type grantIn struct {
	ID           string             `json:"id" doc:"slug or id of the workspace"`
	Enabled      bool               `json:"enabled" doc:"false takes the integration away"`
	UsageLimits  unread[[]budgetIn] `json:"usage_limits,omitempty" nullable:"true" maxItems:"1" doc:"replaces the limit of all providers of the integration in the workspace together; null or an empty list takes it away"`
	RateLimits   unread[[]rateIn]   `json:"rate_limits,omitempty" nullable:"true" maxItems:"1" doc:"replaces the rate; a value of 0 lets nothing through"`
	ResetUsage   bool               `json:"reset_usage,omitempty" writeOnly:"true" doc:"lets usage begin anew"`
	MakeProvider *bool              `json:"create_default_provider,omitempty" doc:"beats the value above"`
	ProviderSlug string             `json:"default_provider_slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"beats the value above"`
}

// globalIn is global access: that of every new workspace.
type globalIn struct {
	Enabled     bool               `json:"enabled" doc:"every new workspace gets the integration"`
	UsageLimits unread[[]budgetIn] `json:"usage_limits,omitempty" nullable:"true" maxItems:"1" doc:"of each workspace that got the integration so and has no limits of its own; counted apart"`
	RateLimits  unread[[]rateIn]   `json:"rate_limits,omitempty" nullable:"true" maxItems:"1"`
}

// grant is the body of a link to a workspace.
type grant struct {
	Enabled bool  `json:"enabled"`
	Created int64 `json:"created_ms"`
	Updated int64 `json:"updated_ms"`
	// Global says that it came with global access, whose limits are its limits until it
	// gets some of its own.
	Global bool `json:"global,omitempty"`
}

// grants are those of an integration by the id of the workspace.
func grants(ctx context.Context, from resource.Reader, integrationID string) (map[string]grant, error) {
	links, err := from.Links(ctx, linkWorkspaces, integrationID)
	if err != nil {
		return nil, err
	}
	m := make(map[string]grant, len(links))
	for _, l := range links {
		var g grant
		if err := json.Unmarshal(l.Body, &g); err != nil {
			return nil, fmt.Errorf("decode a grant of integration %s: %w", integrationID, err)
		}
		m[l.ToID] = g
	}
	return m, nil
}

// putGrants does what was asked for, workspace by workspace: first what is taken
// away, then what is given.
func (k kinds) putGrants(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[credential.Integration]) (any, error) {
	if ch.New.WorkspaceID != "" {
		return nil, fault.New(fault.InvalidRequest, "an integration of a workspace cannot be granted to others")
	}
	in := grantsIn{MakeProvider: true}
	if err := json.Unmarshal(encode(c.Sent), &in); err != nil {
		return nil, fault.New(fault.InvalidRequest, "the body cannot be used").Because(err)
	}
	if len(in.Workspaces) == 0 && !in.Override && in.Global == nil {
		return nil, fault.New(fault.InvalidRequest, "the list is empty; set override_existing_workspace_access to take all grants away").At("workspaces")
	}
	present, err := grants(ctx, tx, ch.New.ID)
	if err != nil {
		return nil, err
	}
	wanted, err := wantedGrants(ctx, tx, c, in, present)
	if err != nil {
		return nil, err
	}
	g := granter{k: k, tx: tx, c: c, in: ch.New, present: present}
	for _, enabled := range []bool{false, true} {
		for _, id := range slices.Sorted(maps.Keys(wanted)) {
			if w := wanted[id]; w.enabled == enabled {
				if err := g.set(ctx, id, w); err != nil {
					return nil, err
				}
			}
		}
	}
	if in.Global != nil {
		if err := g.global(in.Global); err != nil {
			return nil, err
		}
	}
	return nil, g.save(ctx)
}

// wanted is what was asked for a workspace.
type wanted struct {
	enabled, provider bool
	slug              string // of the default provider; empty for the usual one
	global            bool   // it comes with global access
	limits            sentLimits
	reset             bool
}

func wantedGrants(ctx context.Context, tx resource.Tx, c *resource.Call, in grantsIn, present map[string]grant) (map[string]wanted, error) {
	out := make(map[string]wanted, len(in.Workspaces))
	if in.Override {
		for id := range present {
			out[id] = wanted{}
		}
	}
	names := make([]string, len(in.Workspaces))
	for i, w := range in.Workspaces {
		names[i] = w.ID
	}
	places, err := namedWorkspaces(ctx, tx, c.OrgID, names, fault.ReferenceMissing)
	if err != nil {
		return nil, err
	}
	for i, w := range in.Workspaces {
		one := wanted{
			enabled: w.Enabled, provider: in.MakeProvider, slug: in.ProviderSlug, reset: w.ResetUsage,
			limits: sentLimits{fmt.Sprintf("workspaces[%d].", i), w.UsageLimits.RawMessage, w.RateLimits.RawMessage},
		}
		if w.MakeProvider != nil {
			one.provider = *w.MakeProvider
		}
		if w.ProviderSlug != "" {
			one.slug = w.ProviderSlug
		}
		out[places[i].ID] = one
	}
	return out, nil
}

// grantedTo lists the workspaces that may use an integration.
func grantedTo(entries []resource.IndexEntry) []string {
	var ids []string
	for _, e := range entries {
		if e.Name == entryPlace {
			ids = append(ids, e.Value)
		}
	}
	slices.Sort(ids)
	return ids
}
