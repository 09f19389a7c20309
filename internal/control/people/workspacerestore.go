package people

import (
	"context"
	"slices"

	"sluice/internal/control/resource"
	"sluice/internal/domain/prompt"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/fault"
)

// restoreContents restores with a workspace what it needs: the members that it had when it was
// archived, its default collection, and the integrations with global access. Keys, policies and
// records that were deleted by force stay archived, because users must not rely on them any
// more.
func (k workspaces) restoreContents(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[tenant.Workspace]) error {
	if err := restoreMembers(ctx, tx, c, ch.Old.Record); err != nil {
		return err
	}
	if err := k.restoreDefaultCollection(ctx, tx, c, ch.New.Record); err != nil {
		return err
	}
	return k.Integrations.GrantAll(ctx, tx, c, ch.New.Record)
}

// restoreMembers restores the memberships that were archived together with the workspace, for
// users who still exist.
func restoreMembers(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record) error {
	q := resource.Query{Kind: tenant.MemberKind, OrgID: workspace.OrgID, WorkspaceID: workspace.ID, Statuses: []string{resource.Archived}, Limit: 1000}
	return resource.EachPage(ctx, tx, q, func(rows []*resource.Row[tenant.Member]) error {
		for _, m := range rows {
			if !m.Updated.Equal(workspace.Updated) {
				continue // had left before
			}
			u, err := tx.Find(ctx, tenant.UserKind, m.Value.UserID)
			if fault.Has(err, fault.NotFound) || err == nil && u.Status != resource.Active {
				continue
			}
			if err != nil {
				return err
			}
			rec := m.Record
			rec.Status, rec.Updated, rec.Index = resource.Active, c.Now, memberEntries(workspace.ID, &m.Value)
			if err := tx.Update(ctx, rec); err != nil {
				return err
			}
		}
		return nil
	})
}

func (k workspaces) restoreDefaultCollection(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record) error {
	rec, err := tx.Find(ctx, prompt.CollectionKind, prompt.DefaultCollectionID(workspace.ID))
	if fault.Has(err, fault.NotFound) {
		return k.DefaultCollection(ctx, tx, c, workspace.OrgID, workspace.ID)
	}
	if err != nil || rec.Status != resource.Archived {
		return err
	}
	rec.Slug, rec.Status, rec.Updated = rec.ShownSlug(), resource.Active, c.Now
	rec.Index = slices.DeleteFunc(slices.Clone(rec.Index), func(e resource.IndexEntry) bool { return e.Value == rec.Slug })
	return tx.Update(ctx, rec)
}
