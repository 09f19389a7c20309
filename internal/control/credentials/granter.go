package credentials

import (
	"context"
	"slices"

	"sluice/internal/control/grants"
	"sluice/internal/control/resource"
	"sluice/internal/domain/credential"
	"sluice/internal/limits/quota"
)

// grantEditor changes the grants of one integration in a transaction. The caller that holds the
// record writes the changes to its index.
type grantEditor struct {
	k           Deps
	tx          resource.Tx
	c           *resource.Call
	integration *resource.Row[credential.Integration]
	present     map[string]grants.Grant
	meters      map[string]quota.Meter // of all workspaces, by the ids of their budgets; nil until needed
}

// set grants the integration to a workspace, with its limits and a default provider, or
// withdraws it together with all providers made of it. A withdrawn grant retains its limits and
// has them again when it is granted again.
func (g *grantEditor) set(ctx context.Context, workspace string, w requestedGrant) error {
	old, known := g.present[workspace]
	if !known {
		old = grants.Grant{Created: g.c.Now.UnixMilli(), Global: w.global}
	}
	was := known && old.Enabled
	g.present[workspace] = grants.Grant{Enabled: w.enabled, Created: old.Created, Updated: g.c.Now.UnixMilli(), Global: old.Global && !w.limits.any()}
	limits, err := g.mergeLimits(g.integration.Value.Limits[workspace], w.limits)
	if err != nil {
		return err
	}
	if err := g.limit(ctx, workspace, limits, w.enabled && !was, w.reset); err != nil {
		return err
	}
	switch {
	case was && !w.enabled:
		return dropProviders(ctx, g.tx, g.c, g.integration.Record, workspace)
	case !was && w.enabled && w.provider:
		return providers{g.k}.makeProvider(ctx, g.tx, g.c, g.integration, workspace, w.slug)
	}
	return nil
}

// global sets whether every new workspace gets the integration, and with which limits.
func (g *grantEditor) global(in *globalIn) error {
	g.integration.Index = slices.DeleteFunc(g.integration.Index, func(e resource.IndexEntry) bool { return e == grants.GlobalEntry })
	if in.Enabled {
		g.integration.Index = append(g.integration.Index, grants.GlobalEntry)
	}
	sent := sentLimits{"global_workspace_access.", in.UsageLimits.RawMessage, in.RateLimits.RawMessage}
	limits, err := g.mergeLimits(g.integration.Value.GlobalLimits, sent)
	g.integration.Value.GlobalLimits = limits
	return err
}

// save applies global access to the workspaces, and writes the grants as links and into the
// index of the record.
func (g *grantEditor) save(ctx context.Context) error {
	if err := g.follow(ctx); err != nil {
		return err
	}
	return integrationGrants.Save(ctx, g.tx, &g.integration.Record, g.present)
}

// grantNew grants the integrations with global access to a new workspace.
func (k sharing) grantNew(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record) error {
	return k.updateGrants(ctx, tx, c, workspace.OrgID, grants.GlobalEntry, func(g *grantEditor) error {
		return g.set(ctx, workspace.ID, requestedGrant{enabled: true, provider: true, global: true})
	})
}

// withdraw removes a deleted workspace from the integrations of the organisation, with its
// limits and their usage.
func (k sharing) withdraw(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record) error {
	return k.updateGrants(ctx, tx, c, workspace.OrgID, resource.IndexEntry{Name: grants.WorkspaceName, Value: workspace.ID}, func(g *grantEditor) error {
		delete(g.present, workspace.ID)
		return g.limit(ctx, workspace.ID, credential.WorkspaceLimits{}, false, false)
	})
}

// updateGrants changes the grants of those integrations of an organisation that have an index
// entry, with everything that depends on them.
func (k sharing) updateGrants(ctx context.Context, tx resource.Tx, c *resource.Call, orgID string, having resource.IndexEntry, change func(*grantEditor) error) error {
	return grants.Regrant(ctx, tx, c, integrationGrants, orgID, having, func(in *resource.Row[credential.Integration], present map[string]grants.Grant) error {
		g := grantEditor{k: k.Deps, tx: tx, c: c, integration: in, present: present}
		if err := change(&g); err != nil {
			return err
		}
		return g.follow(ctx)
	})
}
