package admin

import (
	"context"
	"slices"
	"time"

	"sluice/internal/credential"
	"sluice/internal/quota"
	"sluice/internal/resource"
)

// grantEditor changes the grants of one integration in a transaction. What it changes of
// the record itself, its index, is written by who holds the record.
type grantEditor struct {
	k       deps
	tx      resource.Tx
	c       *resource.Call
	in      *resource.Row[credential.Integration]
	present map[string]grant
	meters  map[string]quota.Meter // in all workspaces, by the ids of their budgets; nil until one is needed
}

// set gives the integration to a workspace, with its limits and a default provider, or
// takes it away, with all providers made of it. What was taken away keeps its limits, and
// has them again when it is given again.
func (g *grantEditor) set(ctx context.Context, place string, w wanted) error {
	old, known := g.present[place]
	if !known {
		old = grant{Created: g.c.Now.UnixMilli(), Global: w.global}
	}
	was := known && old.Enabled
	g.present[place] = grant{Enabled: w.enabled, Created: old.Created, Updated: g.c.Now.UnixMilli(), Global: old.Global && !w.limits.any()}
	limits, err := g.over(g.in.Value.Limits[place], w.limits)
	if err != nil {
		return err
	}
	if err := g.limit(ctx, place, limits, w.enabled && !was, w.reset); err != nil {
		return err
	}
	switch {
	case was && !w.enabled:
		return dropProviders(ctx, g.tx, g.c, g.in.Record, place)
	case !was && w.enabled && w.provider:
		return g.k.makeProvider(ctx, g.tx, g.c, g.in, place, w.slug)
	}
	return nil
}

// global says whether every new workspace gets the integration, and with which limits.
func (g *grantEditor) global(in *globalIn) error {
	g.in.Index = slices.DeleteFunc(g.in.Index, func(e resource.IndexEntry) bool { return e == globalEntry })
	if in.Enabled {
		g.in.Index = append(g.in.Index, globalEntry)
	}
	sent := sentLimits{"global_workspace_access.", in.UsageLimits.RawMessage, in.RateLimits.RawMessage}
	limits, err := g.over(g.in.Value.GlobalLimits, sent)
	g.in.Value.GlobalLimits = limits
	return err
}

// save lets the workspaces follow global access, and writes the grants as links and into
// the index of the record.
func (g *grantEditor) save(ctx context.Context) error {
	if err := g.follow(ctx); err != nil {
		return err
	}
	return integrationGrants.save(ctx, g.tx, &g.in.Record, g.present)
}

// grantAll gives a new workspace whatever is for all.
func (k deps) grantAll(ctx context.Context, tx resource.Tx, c *resource.Call, place resource.Record) error {
	if err := k.grantGlobal(ctx, tx, c, place); err != nil {
		return err
	}
	if err := k.toolServers().grantNew(ctx, tx, c, place); err != nil {
		return err
	}
	return k.agents().grantNew(ctx, tx, c, place)
}

// grantGlobal gives a new workspace the integrations that are for all.
func (k deps) grantGlobal(ctx context.Context, tx resource.Tx, c *resource.Call, place resource.Record) error {
	return k.updateGrants(ctx, tx, c, place.OrgID, globalEntry, func(g *grantEditor) error {
		return g.set(ctx, place.ID, wanted{enabled: true, provider: true, global: true})
	})
}

// withdrawAll takes a workspace that goes off the integrations of the organisation, with
// its limits and what was used of them.
func (k deps) withdrawAll(ctx context.Context, tx resource.Tx, c *resource.Call, place resource.Record) error {
	return k.updateGrants(ctx, tx, c, place.OrgID, resource.IndexEntry{Name: entryPlace, Value: place.ID}, func(g *grantEditor) error {
		delete(g.present, place.ID)
		return g.limit(ctx, place.ID, credential.WorkspaceLimits{}, false, false)
	})
}

// updateGrants changes the grants of those integrations of an organisation that have an index
// entry, with what hangs on them.
func (k deps) updateGrants(ctx context.Context, tx resource.Tx, c *resource.Call, orgID string, having resource.IndexEntry, change func(*grantEditor) error) error {
	return regrant(ctx, tx, c, integrationGrants, orgID, having, func(in *resource.Row[credential.Integration], present map[string]grant) error {
		g := grantEditor{k: k, tx: tx, c: c, in: in, present: present}
		if err := change(&g); err != nil {
			return err
		}
		return g.follow(ctx)
	})
}

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
