package people

import (
	"context"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// ApplyUserRights sets the rights of a user in the principal of a session or user key: the
// roles, and the toggles where they apply. A user who does not exist any more is
// fault.Unauthenticated.
func ApplyUserRights(ctx context.Context, from resource.Reader, p *access.Principal) error {
	user, err := resource.FindLive[tenant.User](ctx, from, tenant.UserKind, p.UserID)
	if err == nil && user.OrgID != p.OrgID {
		err = fault.New(fault.NotFound, "")
	}
	if fault.Has(err, fault.NotFound) {
		return fault.New(fault.Unauthenticated, "the user no longer belongs to the organisation")
	}
	if err != nil {
		return err
	}
	org, err := resource.FindLive[tenant.Organisation](ctx, from, tenant.OrganisationKind, p.OrgID)
	if err != nil {
		return err
	}
	members, err := memberships(ctx, from, p.OrgID, p.UserID)
	if err != nil {
		return err
	}
	byWorkspace := make(map[string]tenant.Membership, len(members))
	for _, m := range members {
		if p.WorkspaceID != "" && m.WorkspaceID != p.WorkspaceID {
			continue
		}
		ws, err := resource.FindLive[tenant.Workspace](ctx, from, tenant.WorkspaceKind, m.WorkspaceID)
		if fault.Has(err, fault.NotFound) {
			continue // archived
		}
		if err != nil {
			return err
		}
		byWorkspace[m.WorkspaceID] = tenant.Membership{Role: m.Value.Role, Workspace: &ws.Value}
	}
	org.Value.ApplyUserRights(p, &user.Value, byWorkspace)
	return nil
}

// findInCallerOrg returns the record of the caller's organisation that a path placeholder names
// by its id. If there is none, it returns fault.NotFound with the text missing.
func findInCallerOrg[T any](ctx context.Context, c *resource.Call, kind, param, missing string) (*resource.Row[T], error) {
	rec, err := c.Reader.Find(ctx, kind, c.Path(param))
	if fault.Has(err, fault.NotFound) || err == nil && rec.OrgID != c.OrgID {
		return nil, fault.New(fault.NotFound, missing).WithParam(param)
	}
	if err != nil {
		return nil, err
	}
	return resource.Decode[T](rec)
}

// memberships returns the live memberships of a user, at most 1000.
func memberships(ctx context.Context, from resource.Reader, orgID, userID string) ([]*resource.Row[tenant.Member], error) {
	return resource.ListRows[tenant.Member](ctx, from, resource.Query{
		Kind: tenant.MemberKind, OrgID: orgID, Statuses: []string{resource.Active}, Limit: 1000,
		Index: []resource.IndexEntry{{Name: directory.UserEntry, Value: userID}},
	})
}
