package credentials

import (
	"context"
	"fmt"
	"slices"

	"sluice/internal/control/budgets"
	"sluice/internal/control/grants"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/credential"
	"sluice/internal/limits/quota"
)

type grantsView struct {
	Object     string           `json:"object" enum:"list"`
	Total      int              `json:"total"`
	Workspaces []grantedView    `json:"workspaces" nullable:"false"`
	Global     globalAccessView `json:"global_workspace_access"`
}

// grantedView is an integration in a workspace.
type grantedView struct {
	ID            string               `json:"id" doc:"Slug of the workspace"`
	Enabled       bool                 `json:"enabled"`
	UsageLimits   []budgets.BudgetView `json:"usage_limits" nullable:"true"`
	RateLimits    []quota.Rate         `json:"rate_limits" nullable:"true"`
	Status        string               `json:"status" enum:"active,exhausted,archived" doc:"State of the grant; archived after access was revoked"`
	CreatedAt     resource.Stamp       `json:"created_at"`
	LastUpdatedAt *resource.Stamp      `json:"last_updated_at" nullable:"true"`
	LastResetAt   *resource.Stamp      `json:"last_reset_at" nullable:"true"`
}

// globalAccessView shows what every new workspace gets.
type globalAccessView struct {
	Enabled     bool                  `json:"enabled"`
	UsageLimits []budgets.BudgetTerms `json:"usage_limits" nullable:"true"`
	RateLimits  []quota.Rate          `json:"rate_limits" nullable:"true"`
}

func (k sharing) viewGrants(ctx context.Context, c *resource.Call, r resource.Row[credential.Integration]) (any, error) {
	global, err := viewGlobal(&r)
	if err != nil {
		return nil, err
	}
	out := grantsView{Object: "list", Workspaces: []grantedView{}, Global: global}
	workspaces, err := integrationGrants.ListWorkspaces(ctx, c, r.ID)
	if err != nil || len(workspaces) == 0 {
		return out, err
	}
	meters, err := k.Budgets.MetersOf(ctx, c.Reader, quota.Subject{ID: r.ID})
	if err != nil {
		return nil, err
	}
	text, err := listing.SearchText(c)
	if err != nil {
		return nil, err
	}
	for _, workspace := range workspaces {
		if !listing.HasText(text, workspace.Name, workspace.ShownSlug()) {
			continue
		}
		limits := r.Value.Limits[workspace.ID]
		shown, err := budgets.ShowWith(meters, limits.UsageLimits, limits.RateLimits)
		if err != nil {
			return nil, fmt.Errorf("decode the limits of integration %s: %w", r.ID, err)
		}
		out.Workspaces = append(out.Workspaces, viewGranted(grants.View(workspace), shown))
	}
	out.Total = len(out.Workspaces)
	return out, nil
}

func viewGranted(g grants.GrantView, s budgets.Shown) grantedView {
	v := grantedView{
		ID: g.ID, Enabled: g.Enabled, UsageLimits: s.Budgets, RateLimits: s.Rates, Status: g.Status,
		CreatedAt: g.CreatedAt, LastUpdatedAt: g.LastUpdatedAt, LastResetAt: s.LastReset,
	}
	if v.Enabled && slices.ContainsFunc(s.Budgets, func(b budgets.BudgetView) bool { return b.Status == budgets.Exhausted }) {
		v.Status = budgets.Exhausted
	}
	return v
}

// viewGlobal shows global access to an integration.
func viewGlobal(r *resource.Row[credential.Integration]) (v globalAccessView, err error) {
	v.Enabled = slices.Contains(r.Index, grants.GlobalEntry)
	if v.RateLimits, err = budgets.DecodeRates(r.Value.GlobalLimits.RateLimits); err != nil {
		return v, err
	}
	list, err := budgets.Decode(r.Value.GlobalLimits.UsageLimits)
	for i := range list {
		v.UsageLimits = append(v.UsageLimits, budgets.ViewTerms(&list[i], list[i].NextResetAt))
	}
	return v, err
}
