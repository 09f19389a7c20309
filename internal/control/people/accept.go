package people

import (
	"context"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/identity"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// acceptInvite creates the invited user, or restores a removed one, with the memberships and
// keys that the invitation names. The token is the credential.
func (k invites) acceptInvite(ctx context.Context, c *resource.Call) (any, error) {
	if !k.LocalLogin {
		return nil, fault.New(fault.FeatureOff, "this deployment signs users in through its identity provider (AUTH_MODE); accept the invitation there")
	}
	remote := identity.NetworkOf(c.Remote())
	_, done, err := sessions(k).slowDown(ctx, c, k.Invites, remote)
	if err != nil {
		return nil, err
	}
	defer done()
	invited, err := k.inviteOf(ctx, c)
	if err != nil {
		if fault.Has(err, fault.NotFound) {
			k.Invites.Failed(c.Now, remote)
		}
		return nil, err
	}
	if _, err := longestSession(ctx, c.Reader, invited.OrgID); err != nil {
		return nil, err // users who could not sign in get no password
	}
	hash, err := sessions(k).passwordOf(ctx, c.Sent.Secret("password"), "password")
	if err != nil {
		return nil, err
	}
	return resource.Empty{}, c.Change(ctx, func(tx resource.Tx) error {
		i, err := k.inviteOf(ctx, c) // read again, because two calls may run at once
		if err != nil {
			return err
		}
		user, err := createInvitedUser(ctx, tx, c, i)
		if err != nil {
			return err
		}
		c.SetPrincipal(&access.Principal{Kind: access.BySession, OrgID: i.OrgID, UserID: user.ID, Name: i.Value.Email, OrgRole: i.Value.Role})
		c.Target(i.Record)
		if err := SetPassword(ctx, tx, user, hash, c.Now); err != nil {
			return err
		}
		if err := k.addMemberships(ctx, tx, c, i, user); err != nil {
			return err
		}
		now := c.Now
		i.Value.AcceptedAt = &now
		rec := i.Record
		rec.Status, rec.Updated, rec.Body, rec.Index = tenant.InviteAccepted, c.Now, jsonfield.Encode(i.Value), inviteEntries(&i.Value, "")
		return tx.Update(ctx, rec)
	})
}

// inviteOf returns the pending invitation of the token in the path. It returns fault.NotFound if
// there is none or it is no longer pending.
func (k invites) inviteOf(ctx context.Context, c *resource.Call) (*resource.Row[tenant.Invite], error) {
	rows, err := resource.ListRows[tenant.Invite](ctx, c.Reader, resource.Query{
		Kind: tenant.InviteKind, Statuses: []string{tenant.InvitePending}, Limit: 1,
		Index: []resource.IndexEntry{{Name: hashEntry, Value: k.Hasher.Sum(c.Path("token")).String()}},
	})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || rows[0].Value.StatusAt(rows[0].Status, c.Now) != tenant.InvitePending {
		return nil, fault.New(fault.NotFound, "the invitation is unknown, used or expired; ask for a new one").WithParam("token")
	}
	return rows[0], nil
}

// createInvitedUser creates the user of an invitation. A user who was removed before gets the
// same id again, so that past actions remain theirs.
func createInvitedUser(ctx context.Context, tx resource.Tx, c *resource.Call, i *resource.Row[tenant.Invite]) (resource.Record, error) {
	u := tenant.User{Email: i.Value.Email, FirstName: c.Sent.Text("first_name"), LastName: c.Sent.Text("last_name"), Role: i.Value.Role}
	gone, err := tx.List(ctx, resource.Query{
		Kind: tenant.UserKind, OrgID: i.OrgID, Index: []resource.IndexEntry{{Name: directory.EmailEntry, Value: shortened(u.Email)}}, Newest: true, Limit: 1,
	})
	if err != nil {
		return resource.Record{}, err
	}
	if len(gone) == 0 {
		rec := resource.Record{Kind: tenant.UserKind, ID: ident.NewID(), OrgID: i.OrgID, Version: 1, Created: c.Now}
		rec.Name, rec.Status, rec.Updated, rec.Body, rec.Index = u.Email, resource.Active, c.Now, jsonfield.Encode(u), UserIndex(i.OrgID, &u)
		return rec, tx.Insert(ctx, rec)
	}
	rec := gone[0]
	if rec.Status == resource.Active {
		return rec, fault.New(fault.Conflict, "a user of the organisation already has this email address").WithParam("email")
	}
	rec.Status, rec.Updated, rec.Body, rec.Index = resource.Active, c.Now, jsonfield.Encode(u), UserIndex(i.OrgID, &u)
	return rec, tx.Update(ctx, rec)
}

// addMemberships adds the user to the workspaces of the invitation. Workspaces archived in the
// meantime are left out.
func (k invites) addMemberships(ctx context.Context, tx resource.Tx, c *resource.Call, i *resource.Row[tenant.Invite], user resource.Record) error {
	for _, p := range i.Value.Workspaces {
		workspace, err := directory.FindWorkspace(ctx, tx, i.OrgID, p.ID)
		if fault.Has(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := members(k).join(ctx, tx, c, workspace, tenant.Member{UserID: user.ID, Role: p.Role}, "token"); err != nil {
			return err
		}
		if len(i.Value.Scopes) == 0 {
			continue
		}
		if err := k.UserKeys.Make(ctx, tx, c, workspace, user.ID, i.Value.Scopes); err != nil {
			return err
		}
	}
	return nil
}
