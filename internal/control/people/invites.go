package people

import (
	"context"
	"net/http"
	"strings"

	"sluice/internal/control/directory"
	"sluice/internal/control/outbox"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/mail"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// invites returns the routes of invitations to the organisation. They are not a resource.Kind,
// because invitations have other states than other records, their lists use other paging
// parameters, and a person who accepts one does not have a credential yet.
// Source: contract/identity-and-governance.yaml, users and invites.
func (k invites) invites() resource.Resource {
	one := []resource.Param{{Name: "inviteId", Doc: "Id of the invitation", Format: "uuid"}}
	return resource.Operations{
		{
			Method: http.MethodPost, Path: "/admin/users/invites", ID: "createInvite", Summary: "Invite a user by email", Tag: "Users",
			Scopes: []access.Scope{"organisation_users.create"}, Body: inviteIn{}, Response: inviteReceipt{}, Audited: "user_invites", Action: "invite", Run: k.invite,
		},
		{
			Method: http.MethodGet, Path: "/admin/users/invites", ID: "listInvites", Summary: "List the invitations", Tag: "Users", Scopes: []access.Scope{"organisation_users.list"},
			Query: append(resource.Paging(50, 0), resource.Param{Name: "role", Enum: []string{"admin", "member"}}, resource.Param{Name: "email"},
				resource.Param{Name: "search", Doc: "Part of the email address", MaxLength: 255}, resource.Param{Name: "name", Doc: "the same as search", MaxLength: 255}, resource.Param{Name: "status", Enum: []string{"pending", "cancelled", "accepted", "expired"}}),
			Response: resource.ListOf[InviteView]{}, Run: listInvites,
		},
		{
			Method: http.MethodGet, Path: "/admin/users/invites/{inviteId}", ID: "getInvite", Summary: "Read one invitation", Tag: "Users", Params: one,
			Scopes: []access.Scope{"organisation_users.read"}, Response: InviteView{}, Run: getInvite,
		},
		{
			Method: http.MethodDelete, Path: "/admin/users/invites/{inviteId}", ID: "cancelInvite", Summary: "Cancel a pending invitation", Tag: "Users", Params: one,
			Scopes: []access.Scope{"organisation_users.delete"}, Audited: "user_invites", Action: "delete", Run: cancelInvite,
		},
		{
			Method: http.MethodPost, Path: "/admin/users/invites/{inviteId}/resend", ID: "resendInvite", Summary: "Resend an invitation with a new link and a new expiry", Tag: "Users", Params: one,
			Scopes: []access.Scope{"organisation_users.create"}, Response: resendReceipt{}, Audited: "user_invites", Action: "invite", Run: k.resendInvite,
		},
		{
			Method: http.MethodPost, Path: "/admin/users/invites/{token}/accept", ID: "acceptInvite", Summary: "Accept an invitation and set a password", Tag: "Users",
			Params: []resource.Param{{Name: "token", Doc: "Token from the link of the invitation", Secret: true}}, Public: true, Body: acceptIn{}, Audited: "user_invites", Action: "update", Run: k.acceptInvite,
		},
	}
}

type inviteIn struct {
	Email      string              `json:"email" maxLength:"254"`
	Role       string              `json:"role" enum:"admin,member"`
	Workspaces []inviteWorkspaceIn `json:"workspaces,omitempty" nullable:"false" maxItems:"1000"`
	KeyDetails *keyDetailIn        `json:"workspace_api_key_details,omitempty" doc:"User key with these scopes, created in each workspace"`
}

type inviteWorkspaceIn struct {
	ID   string      `json:"id" maxLength:"255" doc:"Slug or id of a workspace"`
	Role access.Role `json:"role" enum:"admin,manager,member"`
}

type keyDetailIn struct {
	Scopes []string `json:"scopes" nullable:"false" minItems:"1" maxItems:"200"`
}

// inviteReceipt is the invitation with the link from its email.
type inviteReceipt struct {
	InviteView
	Link string `json:"invite_link"`
}

type resendReceipt struct {
	Link string `json:"inviteLink"`
}

type acceptIn struct {
	FirstName string `json:"first_name,omitempty" maxLength:"255"`
	LastName  string `json:"last_name,omitempty" maxLength:"255"`
	Password  string `json:"password,omitempty" maxLength:"1024" doc:"Password of at least 12 characters; local login only"`
}

// InviteView is an invitation in responses.
type InviteView struct {
	Object     string                 `json:"object" enum:"invite"`
	ID         string                 `json:"id" format:"uuid"`
	Email      string                 `json:"email"`
	Role       access.Role            `json:"role" enum:"admin,member"`
	Status     string                 `json:"status" enum:"pending,cancelled,accepted,expired"`
	CreatedAt  resource.Stamp         `json:"created_at"`
	ExpiresAt  resource.Stamp         `json:"expires_at"`
	AcceptedAt *resource.Stamp        `json:"accepted_at" nullable:"true"`
	InvitedBy  string                 `json:"invited_by"`
	Workspaces []invitedWorkspaceView `json:"workspaces" nullable:"false"`
}

type invitedWorkspaceView struct {
	ID          string      `json:"id" doc:"Id of the workspace"`
	WorkspaceID string      `json:"workspace_id"`
	Role        access.Role `json:"role"`
}

func viewInvite(c *resource.Call, r *resource.Row[tenant.Invite]) InviteView {
	i := r.Value
	v := InviteView{
		Object: "invite", ID: r.ID, Email: i.Email, Role: i.Role, Status: i.StatusAt(r.Status, c.Now), CreatedAt: resource.Stamp(r.Created),
		ExpiresAt: resource.Stamp(i.ExpiresAt), AcceptedAt: resource.StampOf(i.AcceptedAt), InvitedBy: i.InvitedBy, Workspaces: make([]invitedWorkspaceView, len(i.Workspaces)),
	}
	for n, p := range i.Workspaces {
		v.Workspaces[n] = invitedWorkspaceView{p.ID, p.ID, p.Role}
	}
	return v
}

func inviteEntries(i *tenant.Invite, hash string) []resource.IndexEntry {
	entries := []resource.IndexEntry{{Name: directory.EmailEntry, Value: shortened(i.Email)}, {Name: directory.OrgRoleEntry, Value: string(i.Role)}}
	if hash != "" {
		entries = append(entries, resource.IndexEntry{Name: hashEntry, Value: hash, Unique: true})
	}
	return entries
}

func (k invites) invite(ctx context.Context, c *resource.Call) (any, error) {
	if err := invitesHere(ctx, c); err != nil {
		return nil, err
	}
	email, err := Email(c.Sent.Text("email"), "email")
	if err != nil {
		return nil, err
	}
	i := tenant.Invite{Email: email, Role: access.Role(c.Sent.Text("role")), InvitedBy: c.Principal.Actor(), ExpiresAt: c.Now.Add(tenant.InviteLife)}
	if i.Scopes, err = invitedScopes(c); err != nil {
		return nil, err
	}
	token, id := newInviteToken(), ident.NewID()
	var made resource.Record
	err = c.Change(ctx, func(tx resource.Tx) error {
		if i.Workspaces, err = readInvitedWorkspaces(ctx, c); err != nil {
			return err
		}
		if err := notThere(ctx, c, email); err != nil {
			return err
		}
		rec := resource.Record{
			Kind: tenant.InviteKind, ID: id, OrgID: c.OrgID, Name: email, Status: tenant.InvitePending, Version: 1, Created: c.Now, Updated: c.Now,
			Body: jsonfield.Encode(i), Index: inviteEntries(&i, k.Hasher.Sum(token).String()),
		}
		c.Target(rec)
		if err := tx.Insert(ctx, rec); err != nil {
			return err
		}
		made = rec
		return k.mailInvite(ctx, tx, c, &i, token)
	})
	return inviteReceipt{viewInvite(c, &resource.Row[tenant.Invite]{Record: made, Value: i}), k.inviteLink(token)}, err
}

// invitesHere returns fault.Forbidden if the organisation manages users only through SCIM.
func invitesHere(ctx context.Context, c *resource.Call) error {
	a, err := authOf(ctx, c.Reader, c.OrgID)
	if err == nil && a.Value.SCIM.UsersOnly {
		err = fault.New(fault.Forbidden, "users of this organisation are managed only through SCIM")
	}
	return err
}

func invitedScopes(c *resource.Call) ([]string, error) {
	var details keyDetailIn
	if err := c.Sent.Into("workspace_api_key_details", &details); err != nil {
		return nil, err
	}
	for _, s := range details.Scopes {
		if may, _ := access.MayHold(access.WorkspaceUser, s); !may {
			return nil, fault.Newf(fault.InvalidParameter, "a user key cannot have the scope %q", jsonfield.Clip(s, 80)).WithParam("workspace_api_key_details.scopes")
		}
	}
	return details.Scopes, nil
}

func readInvitedWorkspaces(ctx context.Context, c *resource.Call) ([]tenant.InvitedWorkspace, error) {
	var sent []inviteWorkspaceIn
	if err := c.Sent.Into("workspaces", &sent); err != nil {
		return nil, err
	}
	found, err := directory.NamedWorkspaces(ctx, c.Reader, c.OrgID, jsonfield.Convert(sent, func(p inviteWorkspaceIn) string { return p.ID }), fault.NotFound)
	if err != nil {
		return nil, err
	}
	workspaces := make([]tenant.InvitedWorkspace, len(sent))
	for i, p := range sent {
		workspaces[i] = tenant.InvitedWorkspace{ID: found[i].ID, Role: p.Role}
	}
	return workspaces, nil
}

// notThere returns fault.Conflict if the address belongs to a user of the organisation or has a
// pending invitation.
func notThere(ctx context.Context, c *resource.Call, email string) error {
	_, err := userByEmail(ctx, c.Reader, c.OrgID, email)
	if err == nil {
		return fault.New(fault.Conflict, "a user of the organisation already has this email address").WithParam("email")
	}
	if !fault.Has(err, fault.NotFound) {
		return err
	}
	rows, err := resource.ListRows[tenant.Invite](ctx, c.Reader, resource.Query{
		Kind: tenant.InviteKind, OrgID: c.OrgID, Statuses: []string{tenant.InvitePending}, Index: []resource.IndexEntry{{Name: directory.EmailEntry, Value: shortened(email)}},
	})
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.Value.StatusAt(r.Status, c.Now) == tenant.InvitePending {
			return fault.New(fault.Conflict, "this address is already invited; cancel that invitation, or send it again").WithParam("email")
		}
	}
	return nil
}

// InvitePath is the path of the page that accepts an invitation (invite.html).
const InvitePath = "/console/invite"

// newInviteToken returns a new token: "inv_" and 256 random bits.
func newInviteToken() string { return sealed.InvitePrefix + ident.NewSecret(32) }

// inviteLink returns the link in the email. The token is in the fragment, which browsers do not
// send: it does not appear in the logs of proxies, and other sites do not receive it.
func (k invites) inviteLink(token string) string {
	return strings.TrimSuffix(k.ConsoleURL, "/") + InvitePath + "#token=" + token
}

func (k invites) mailInvite(ctx context.Context, tx resource.Tx, c *resource.Call, i *tenant.Invite, token string) error {
	org, err := directory.FindOrganisation(ctx, c)
	if err != nil {
		return err
	}
	vars := map[string]string{"organisationName": org.Value.Name, "inviterUserName": "An administrator", "inviterEmail": ""}
	if c.Principal.UserID != "" {
		u, err := directory.FindUser(ctx, c, c.Principal.UserID, "user_id")
		if err != nil {
			return err
		}
		vars["inviterUserName"], vars["inviterEmail"] = strings.TrimSpace(u.Value.FirstName+" "+u.Value.LastName), u.Value.Email
	}
	m := mail.Message{Template: "user-invite", To: []string{i.Email}, Vars: vars}
	return outbox.PostSecret(ctx, tx, k.Box, c.OrgID, c.Now, m, map[string]string{"inviteLink": k.inviteLink(token)})
}

func listInvites(ctx context.Context, c *resource.Call) (any, error) {
	q := resource.Query{Kind: tenant.InviteKind, OrgID: c.OrgID, Newest: true}
	if v := c.Query("role"); v != "" {
		q.Index = append(q.Index, resource.IndexEntry{Name: directory.OrgRoleEntry, Value: v})
	}
	if v := c.Query("email"); v != "" {
		q.Index = append(q.Index, resource.IndexEntry{Name: directory.EmailEntry, Value: shortened(strings.ToLower(v))})
	}
	if v := c.Query("status"); v != "" {
		q.Statuses = []string{v}
	}
	text, err := listing.SearchText(c)
	if err != nil {
		return nil, err
	}
	q.Search = text
	return listed(ctx, c, q, peoplePage, func(r *resource.Row[tenant.Invite]) InviteView { return viewInvite(c, r) })
}

// inviteNamed returns the invitation that the path names and sets it as the audit target.
func inviteNamed(ctx context.Context, c *resource.Call) (*resource.Row[tenant.Invite], error) {
	r, err := findInCallerOrg[tenant.Invite](ctx, c, tenant.InviteKind, "inviteId", "the invitation does not exist")
	if err == nil {
		c.Target(r.Record)
	}
	return r, err
}

// inviteToChange returns the invitation that the path names. It returns fault.Conflict if the
// caller has read another version of it.
func inviteToChange(ctx context.Context, c *resource.Call) (*resource.Row[tenant.Invite], error) {
	r, err := inviteNamed(ctx, c)
	if err == nil {
		err = c.Unchanged(r.Record)
	}
	return r, err
}

func getInvite(ctx context.Context, c *resource.Call) (any, error) {
	r, err := inviteNamed(ctx, c)
	if err != nil {
		return nil, err
	}
	c.Version(r.Record)
	return viewInvite(c, r), nil
}

func cancelInvite(ctx context.Context, c *resource.Call) (any, error) {
	return resource.Empty{}, c.Change(ctx, func(tx resource.Tx) error {
		r, err := inviteToChange(ctx, c)
		if err != nil {
			return err
		}
		if s := r.Value.StatusAt(r.Status, c.Now); s != tenant.InvitePending {
			return fault.Newf(fault.InvalidRequest, "the invitation is %s; only a pending one can be cancelled", s)
		}
		rec := r.Record
		rec.Status, rec.Updated, rec.Index = tenant.InviteCancelled, c.Now, inviteEntries(&r.Value, "")
		return tx.Update(ctx, rec)
	})
}

func (k invites) resendInvite(ctx context.Context, c *resource.Call) (any, error) {
	token := newInviteToken()
	err := c.Change(ctx, func(tx resource.Tx) error {
		r, err := inviteToChange(ctx, c)
		if err != nil {
			return err
		}
		if s := r.Value.StatusAt(r.Status, c.Now); s != tenant.InvitePending && s != tenant.InviteExpired {
			return fault.Newf(fault.InvalidRequest, "the invitation is %s and cannot be sent again", s)
		}
		rec := r.Record
		r.Value.ExpiresAt = c.Now.Add(tenant.InviteLife)
		rec.Status, rec.Updated, rec.Body, rec.Index = tenant.InvitePending, c.Now, jsonfield.Encode(r.Value), inviteEntries(&r.Value, k.Hasher.Sum(token).String())
		if err := tx.Update(ctx, rec); err != nil {
			return err
		}
		return k.mailInvite(ctx, tx, c, &r.Value, token)
	})
	return resendReceipt{k.inviteLink(token)}, err
}
