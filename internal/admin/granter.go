package admin

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sluice/internal/credential"
	"sluice/internal/fault"
	"sluice/internal/resource"
)

// granter changes the grants of one integration in a transaction. What it changes of
// the record itself, its index, is written by who holds the record.
type granter struct {
	k       kinds
	tx      resource.Tx
	c       *resource.Call
	in      *resource.Row[credential.Integration]
	present map[string]grant
}

// set gives the integration to a workspace, with a default provider, or takes it
// away, with all providers made of it.
func (g *granter) set(ctx context.Context, place string, w wanted) error {
	old, known := g.present[place]
	now := g.c.Now.UnixMilli()
	if !known {
		old = grant{Created: now}
	}
	was := known && old.Enabled
	g.present[place] = grant{w.enabled, old.Created, now}
	switch {
	case was && !w.enabled:
		return dropProviders(ctx, g.tx, g.c, g.in.Record, place)
	case !was && w.enabled && w.provider:
		return g.k.makeProvider(ctx, g.tx, g.c, g.in, place, w.slug)
	}
	return nil
}

// global says whether every new workspace gets the integration.
func (g *granter) global(ctx context.Context, on bool) error {
	var links []resource.Link
	g.in.Index = slices.DeleteFunc(g.in.Index, func(e resource.IndexEntry) bool { return e.Name == entryGlobal })
	if on {
		links = []resource.Link{{ToID: g.in.OrgID, Body: encode(globalView{true})}}
		g.in.Index = append(g.in.Index, resource.IndexEntry{Name: entryGlobal, Value: "1"})
	}
	return g.tx.PutLinks(ctx, linkGlobal, g.in.ID, links)
}

// save writes the grants as links, and into the index of the record.
func (g *granter) save(ctx context.Context) error {
	links := make([]resource.Link, 0, len(g.present))
	g.in.Index = slices.DeleteFunc(g.in.Index, func(e resource.IndexEntry) bool { return e.Name == entryPlace })
	for place, one := range g.present {
		links = append(links, resource.Link{ToID: place, Body: encode(one)})
		if one.Enabled {
			g.in.Index = append(g.in.Index, resource.IndexEntry{Name: entryPlace, Value: place})
		}
	}
	if len(links) > maxGrants {
		return fault.Newf(fault.InvalidParameter, "an integration is granted to at most %d workspaces", maxGrants).At("workspaces")
	}
	slices.SortFunc(links, func(a, b resource.Link) int { return cmp.Compare(a.ToID, b.ToID) })
	return g.tx.PutLinks(ctx, linkWorkspaces, g.in.ID, links)
}

// grantAll gives a new workspace whatever is for all.
func (k kinds) grantAll(ctx context.Context, tx resource.Tx, c *resource.Call, place resource.Record) error {
	if err := k.grantGlobal(ctx, tx, c, place); err != nil {
		return err
	}
	if err := k.toolServers().grantNew(ctx, tx, c, place); err != nil {
		return err
	}
	return k.agents().grantNew(ctx, tx, c, place)
}

// grantGlobal gives a new workspace the integrations that are for all.
func (k kinds) grantGlobal(ctx context.Context, tx resource.Tx, c *resource.Call, place resource.Record) error {
	rows, err := tx.List(ctx, resource.Query{
		Kind: credential.IntegrationKind, OrgID: place.OrgID, Statuses: []string{resource.Active},
		Index: []resource.IndexEntry{{Name: entryGlobal, Value: "1"}}, Limit: 1000,
	})
	if err != nil {
		return err
	}
	for _, rec := range rows {
		if err := k.grantOne(ctx, tx, c, rec, place.ID); err != nil {
			return err
		}
	}
	return nil
}

func (k kinds) grantOne(ctx context.Context, tx resource.Tx, c *resource.Call, rec resource.Record, place string) error {
	in, err := resource.Decode[credential.Integration](rec)
	if err != nil {
		return err
	}
	present, err := grants(ctx, tx, rec.ID)
	if err != nil {
		return err
	}
	g := granter{k, tx, c, in, present}
	if err := g.set(ctx, place, wanted{enabled: true, provider: true}); err != nil {
		return err
	}
	if err := g.save(ctx); err != nil {
		return err
	}
	rec.Index, rec.Updated = in.Index, c.Now
	return tx.Update(ctx, rec)
}

// readGlobal says whether every new workspace gets the integration.
func readGlobal(ctx context.Context, from resource.Reader, integrationID string) (*globalView, error) {
	links, err := from.Links(ctx, linkGlobal, integrationID)
	return &globalView{len(links) > 0}, err
}

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
