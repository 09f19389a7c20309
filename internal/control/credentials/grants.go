package credentials

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"sluice/internal/control/budgets"
	"sluice/internal/control/grants"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/credential"
)

// integrationGrants are the grants of integrations of model providers.
var integrationGrants = grants.Set{Kind: credential.IntegrationKind, Title: "integration"}

// grantActions read and change which workspaces may use an integration of the organisation.
// Source: contract/identity-and-governance.yaml, /integrations/{slug}/workspaces; .md section
// 12.
func (k sharing) grantActions() []resource.Action[credential.Integration] {
	return []resource.Action[credential.Integration]{
		{
			Name: "read", Method: http.MethodGet, Path: "/workspaces", ID: "listIntegrationWorkspaces", Summary: "List the workspaces that may use an integration",
			Query: listing.SearchParams("part of the name or slug of the workspace"), Response: grantsView{}, Read: k.viewGrants,
		},
		{
			Name: "manage", Scope: "update", Method: http.MethodPut, Path: "/workspaces", ID: "updateIntegrationWorkspaces",
			Summary: "Grant an integration to workspaces, or revoke the grant", Body: grantsIn{}, Run: k.putGrants,
		},
	}
}

type grantsIn struct {
	Workspaces   []grantIn `json:"workspaces,omitempty" nullable:"false" maxItems:"900"`
	Global       *globalIn `json:"global_workspace_access,omitempty"`
	Override     bool      `json:"override_existing_workspace_access,omitempty" doc:"Replaces all present grants with the list"`
	MakeProvider bool      `json:"create_default_provider,omitempty" default:"true"`
	ProviderSlug string    `json:"default_provider_slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"Defaults to the slug of the integration"`
}

type grantIn struct {
	ID           string                            `json:"id" doc:"Slug or id of the workspace"`
	Enabled      bool                              `json:"enabled" doc:"false revokes access to the integration"`
	UsageLimits  jsonfield.Raw[[]budgets.BudgetIn] `json:"usage_limits,omitempty" nullable:"true" maxItems:"1" doc:"Replaces the limit that all providers of the integration in the workspace share; null or an empty list removes it"`
	RateLimits   jsonfield.Raw[[]budgets.RateIn]   `json:"rate_limits,omitempty" nullable:"true" maxItems:"1" doc:"Replaces the rate limit; a value of 0 blocks all calls"`
	ResetUsage   bool                              `json:"reset_usage,omitempty" writeOnly:"true" doc:"Sets the usage of all limits to zero"`
	MakeProvider *bool                             `json:"create_default_provider,omitempty" doc:"Takes precedence over the top-level value"`
	ProviderSlug string                            `json:"default_provider_slug,omitempty" maxLength:"255" pattern:"^[a-zA-Z0-9_-]+$" doc:"Takes precedence over the top-level value"`
}

// globalIn is global access, which every new workspace gets.
type globalIn struct {
	Enabled     bool                              `json:"enabled" doc:"Grants the integration to every new workspace"`
	UsageLimits jsonfield.Raw[[]budgets.BudgetIn] `json:"usage_limits,omitempty" nullable:"true" maxItems:"1" doc:"Limit for each workspace with such a grant and without limits of its own; counted separately"`
	RateLimits  jsonfield.Raw[[]budgets.RateIn]   `json:"rate_limits,omitempty" nullable:"true" maxItems:"1"`
}

// putGrants applies the requested grants by workspace: first the withdrawals, then the new
// grants.
func (k sharing) putGrants(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[credential.Integration]) (any, error) {
	body := grantsIn{MakeProvider: true}
	present, err := integrationGrants.ReadGrants(ctx, tx, c, ch.New.Record, &body, func() bool { return len(body.Workspaces) > 0 || body.Override || body.Global != nil })
	if err != nil {
		return nil, err
	}
	requested, err := grants.ReadRequested(ctx, tx, c, present, body.Override, body.Workspaces, body.parseEntry)
	if err != nil {
		return nil, err
	}
	g := grantEditor{k: k.Deps, tx: tx, c: c, integration: ch.New, present: present}
	for _, enabled := range []bool{false, true} {
		for _, id := range slices.Sorted(maps.Keys(requested)) {
			if w := requested[id]; w.enabled == enabled {
				if err := g.set(ctx, id, w); err != nil {
					return nil, err
				}
			}
		}
	}
	if body.Global != nil {
		if err := g.global(body.Global); err != nil {
			return nil, err
		}
	}
	return nil, g.save(ctx)
}

// requestedGrant is the requested grant of a workspace.
type requestedGrant struct {
	enabled, provider bool
	slug              string // of the default provider; empty for that of the integration
	global            bool   // the grant comes with global access
	limits            sentLimits
	reset             bool
}

// parseEntry returns what the entry w of the list, at i, requests for its workspace.
func (body *grantsIn) parseEntry(i int, w grantIn) (name string, one requestedGrant) {
	one = requestedGrant{
		enabled: w.Enabled, provider: body.MakeProvider, slug: body.ProviderSlug, reset: w.ResetUsage,
		limits: sentLimits{fmt.Sprintf("workspaces[%d].", i), w.UsageLimits.RawMessage, w.RateLimits.RawMessage},
	}
	if w.MakeProvider != nil {
		one.provider = *w.MakeProvider
	}
	if w.ProviderSlug != "" {
		one.slug = w.ProviderSlug
	}
	return w.ID, one
}
