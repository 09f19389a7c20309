package people

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// members returns the routes of the members of a workspace and their roles. They are not a
// resource.Kind, because two ids name a membership, that of its workspace and that of its
// user, and one call creates several memberships.
// Source: contract/identity-and-governance.yaml, workspace members.
func (k members) members() resource.Resource {
	var ops resource.Operations
	for base, alias := range map[string]string{"/workspaces": "", "/admin/workspaces": "AtAdminWorkspaces"} {
		path := base + "/{workspaceId}/users"
		one := path + "/{userId}"
		workspace := resource.Param{Name: "workspaceId", Doc: "Slug or id of the workspace"}
		user := resource.Param{Name: "userId", Doc: "Id of the user", Format: "uuid"}
		id := func(name string) string { return name + alias }
		add := func(op resource.Operation) {
			op.Tag, op.Anywhere = "Workspace members", true
			ops = append(ops, op)
		}
		add(resource.Operation{
			Method: http.MethodPost, Path: path, ID: id("addWorkspaceMembers"), Summary: "Add users of the organisation to a workspace", Params: []resource.Param{workspace},
			Scopes: []access.Scope{"workspace_users.create"}, Body: membersIn{}, Audited: "workspace_users", Action: "create", Run: k.addMembers,
		})
		add(resource.Operation{
			Method: http.MethodGet, Path: path, ID: id("listWorkspaceMembers"), Summary: "List the members of a workspace", Params: []resource.Param{workspace},
			Scopes: []access.Scope{"workspace_users.list"}, Query: append(resource.Paging(50, 0),
				resource.Param{Name: "role", Enum: []string{"admin", "manager", "member"}}, resource.Param{Name: "email"}, directory.SearchParam("search"), directory.SearchParam("name")),
			Response: resource.ListOf[memberView]{}, Run: k.listMembers,
		})
		add(resource.Operation{
			Method: http.MethodGet, Path: one, ID: id("getWorkspaceMember"), Summary: "Read one member of a workspace", Params: []resource.Param{workspace, user},
			Scopes: []access.Scope{"workspace_users.read"}, Response: memberView{}, Run: k.getMember,
		})
		add(resource.Operation{
			Method: http.MethodPut, Path: one, ID: id("updateWorkspaceMember"), Summary: "Change the role of a workspace member", Params: []resource.Param{workspace, user},
			Scopes: []access.Scope{"workspace_users.update"}, Body: memberPatch{}, Audited: "workspace_users", Action: "update", Run: k.putMember,
		})
		add(resource.Operation{
			Method: http.MethodDelete, Path: one, ID: id("removeWorkspaceMember"), Summary: "Remove a member and archive their keys in the workspace", Params: []resource.Param{workspace, user},
			Scopes: []access.Scope{"workspace_users.delete"}, Audited: "workspace_users", Action: "delete", Run: k.removeMember,
		})
	}
	return ops
}

type membersIn struct {
	Users []memberIn `json:"users" nullable:"false" minItems:"1" maxItems:"1000"`
}

type memberIn struct {
	ID   string      `json:"id" format:"uuid" doc:"Id of a user of the organisation"`
	Role access.Role `json:"role,omitempty" enum:"admin,manager,member" default:"member"`
}

type memberPatch struct {
	Role access.Role `json:"role" enum:"admin,manager,member"`
}

// findPathWorkspace returns the workspace that the path names, if the caller has the scope there.
// It returns the same error for a workspace that the caller does not belong to as for one that
// does not exist. It sets c.WorkspaceID.
func findPathWorkspace(ctx context.Context, c *resource.Call, scope access.Scope) (resource.Record, error) {
	rec, err := directory.FindWorkspace(ctx, c.Reader, c.OrgID, c.Path("workspaceId"))
	missing := fault.Has(err, fault.NotFound)
	switch {
	case err != nil && !missing:
		return rec, err
	case missing, !c.Principal.IsOrgWide() && !c.Principal.BelongsTo(rec.ID):
		return rec, resource.ErrForeignWorkspace("workspaceId")
	}
	c.WorkspaceID = rec.ID
	return rec, c.May([]access.Scope{scope}, access.Target{OrgID: rec.OrgID, WorkspaceID: rec.ID})
}

// memberEntries returns the index entries of a membership. They make it unique for its user and
// workspace.
func memberEntries(workspaceID string, m *tenant.Member) []resource.IndexEntry {
	return []resource.IndexEntry{
		{Name: directory.UserEntry, Value: m.UserID}, {Name: "role", Value: string(m.Role)},
		{Name: "member", Value: workspaceID + "/" + m.UserID, Unique: true},
	}
}

// join adds a user to a workspace. It does nothing if the user is already a member with that
// role, and returns fault.Conflict at path if the user has another role.
func (k members) join(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record, m tenant.Member, path string) error {
	present, err := directory.FindMember(ctx, tx, workspace, m.UserID)
	switch {
	case err == nil && present.Value.Role == m.Role:
		return nil
	case err == nil:
		return fault.Newf(fault.Conflict, "the user is already a member with the role %s; change the member instead", present.Value.Role).WithParam(path)
	case !fault.Has(err, fault.NotFound):
		return err
	}
	rec := resource.Record{
		Kind: tenant.MemberKind, ID: ident.NewID(), OrgID: workspace.OrgID, WorkspaceID: workspace.ID, Status: resource.Active, Version: 1,
		Created: c.Now, Updated: c.Now, Body: jsonfield.Encode(m), Index: memberEntries(workspace.ID, &m),
	}
	if err := tx.Insert(ctx, rec); err != nil {
		return err
	}
	return k.UserKeys.MakeOnJoining(ctx, tx, c, workspace, m.UserID)
}

// mayMake returns fault.Forbidden if the caller is a manager of the workspace and role is admin.
// Source: contract/identity-and-governance.yaml, POST /admin/workspaces/{workspaceId}/users.
func mayMake(c *resource.Call, workspace resource.Record, role access.Role, path string) error {
	if role == access.Admin && c.Principal.RoleAt(workspace.ID) == access.Manager {
		return fault.New(fault.Forbidden, "a manager cannot add or change an admin of the workspace").WithParam(path)
	}
	return nil
}

func (k members) addMembers(ctx context.Context, c *resource.Call) (any, error) {
	var sent []memberIn
	if err := c.Sent.Into("users", &sent); err != nil {
		return nil, err
	}
	return resource.Empty{}, c.Change(ctx, func(tx resource.Tx) error {
		workspace, err := findPathWorkspace(ctx, c, "workspace_users.create")
		if err != nil {
			return err
		}
		c.Target(workspace)
		for i, u := range sent {
			path := "users[" + strconv.Itoa(i) + "]"
			if u.Role == "" {
				u.Role = access.Member
			}
			if err := mayMake(c, workspace, u.Role, path+".role"); err != nil {
				return err
			}
			if _, err := directory.FindUser(ctx, c, u.ID, path+".id"); err != nil {
				return err
			}
			if err := k.join(ctx, tx, c, workspace, tenant.Member{UserID: u.ID, Role: u.Role}, path+".id"); err != nil {
				return err
			}
		}
		return nil
	})
}

func (k members) putMember(ctx context.Context, c *resource.Call) (any, error) {
	role := access.Role(c.Sent.Text("role"))
	return resource.Empty{}, c.Change(ctx, func(tx resource.Tx) error {
		workspace, m, err := k.memberToChange(ctx, c, "workspace_users.update")
		if err != nil {
			return err
		}
		if err := mayMake(c, workspace, role, "role"); err != nil {
			return err
		}
		m.Value.Role = role
		rec := m.Record
		rec.Body, rec.Index, rec.Updated = jsonfield.Encode(m.Value), memberEntries(workspace.ID, &m.Value), c.Now
		return tx.Update(ctx, rec)
	})
}

func (k members) removeMember(ctx context.Context, c *resource.Call) (any, error) {
	return resource.Empty{}, c.Change(ctx, func(tx resource.Tx) error {
		_, m, err := k.memberToChange(ctx, c, "workspace_users.delete")
		if err != nil {
			return err
		}
		return endMembership(ctx, tx, c, m)
	})
}

// memberNamed returns the workspace and the membership that the path names, and sets the user as
// the audit target.
func memberNamed(ctx context.Context, c *resource.Call, scope access.Scope) (resource.Record, *resource.Row[tenant.Member], error) {
	workspace, err := findPathWorkspace(ctx, c, scope)
	if err != nil {
		return workspace, nil, err
	}
	m, err := directory.FindMember(ctx, c.Reader, workspace, c.Path("userId"))
	if err == nil {
		c.Target(resource.Record{ID: m.Value.UserID, WorkspaceID: workspace.ID})
	}
	return workspace, m, err
}

// memberToChange returns the workspace and the membership that the path names, for a change. It
// returns fault.Conflict if the caller has read another version of it, and fault.Forbidden if
// the caller may not change a member with that role.
func (k members) memberToChange(ctx context.Context, c *resource.Call, scope access.Scope) (resource.Record, *resource.Row[tenant.Member], error) {
	workspace, m, err := memberNamed(ctx, c, scope)
	if err == nil {
		err = c.Unchanged(m.Record)
	}
	if err == nil {
		err = mayMake(c, workspace, m.Value.Role, "userId")
	}
	return workspace, m, err
}

// endMembership archives a membership and the keys of the user in the workspace.
// Source: contract/identity-and-governance.md section 4.
func endMembership(ctx context.Context, tx resource.Tx, c *resource.Call, m *resource.Row[tenant.Member]) error {
	if err := resource.ArchiveLinked(ctx, tx, c, m.Record); err != nil {
		return err
	}
	return retireOf(ctx, tx, c, m.OrgID, m.WorkspaceID, m.Value.UserID, keys.Kind)
}

func (k members) getMember(ctx context.Context, c *resource.Call) (any, error) {
	workspace, m, err := memberNamed(ctx, c, "workspace_users.read")
	if err != nil {
		return nil, err
	}
	ws, err := resource.Decode[tenant.Workspace](workspace)
	if err != nil {
		return nil, err
	}
	views, err := viewMembers(ctx, c, ws, []*resource.Row[tenant.Member]{m})
	if err != nil || len(views) == 0 {
		return nil, err
	}
	c.Version(m.Record)
	return views[0], nil
}

func (k members) listMembers(ctx context.Context, c *resource.Call) (any, error) {
	workspace, err := findPathWorkspace(ctx, c, "workspace_users.list")
	if err != nil {
		return nil, err
	}
	q := resource.Query{Kind: tenant.MemberKind, OrgID: workspace.OrgID, WorkspaceID: workspace.ID, Statuses: []string{resource.Active}, Newest: true}
	if role := c.Query("role"); role != "" {
		q.Index = append(q.Index, resource.IndexEntry{Name: "role", Value: role})
	}
	out := resource.ListOf[memberView]{Object: "list", Data: []memberView{}}
	if email := c.Query("email"); email != "" {
		u, err := userByEmail(ctx, c.Reader, c.OrgID, email)
		if fault.Has(err, fault.NotFound) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		q.Index = append(q.Index, resource.IndexEntry{Name: directory.UserEntry, Value: u.ID})
	}
	if err := directory.SearchMembers(ctx, c, workspace, &q); err != nil {
		return nil, err
	}
	if out.Total, err = c.Reader.Count(ctx, q); err != nil {
		return nil, err
	}
	q.Limit = orUsual(c.Int("page_size"), 50)
	q.Offset = c.Int("current_page") * q.Limit
	rows, err := resource.ListRows[tenant.Member](ctx, c.Reader, q)
	if err != nil {
		return nil, err
	}
	ws, err := resource.Decode[tenant.Workspace](workspace)
	if err != nil {
		return nil, err
	}
	out.Data, err = viewMembers(ctx, c, ws, rows)
	return out, err
}

func orUsual(n, usual int) int {
	if n == 0 {
		return usual
	}
	return n
}

// membersOf returns all members of a workspace, at most 1000, the oldest first.
func (k members) membersOf(ctx context.Context, c *resource.Call, ws *resource.Row[tenant.Workspace]) ([]memberView, error) {
	rows, err := resource.ListRows[tenant.Member](ctx, c.Reader, resource.Query{
		Kind: tenant.MemberKind, OrgID: ws.OrgID, WorkspaceID: ws.ID, Statuses: []string{resource.Active}, Limit: 1000,
	})
	if err != nil {
		return nil, err
	}
	return viewMembers(ctx, c, ws, rows)
}

// memberView is a member in responses. Its id is the id of the user.
type memberView struct {
	Object        string          `json:"object" enum:"workspace-user"`
	ID            string          `json:"id" format:"uuid"`
	FirstName     string          `json:"first_name"`
	LastName      string          `json:"last_name"`
	Email         string          `json:"email"`
	OrgRole       access.Role     `json:"org_role" enum:"owner,admin,member"`
	Role          access.Role     `json:"role" enum:"admin,manager,member"`
	Status        string          `json:"status" enum:"active"`
	WorkspaceID   string          `json:"workspace_id" format:"uuid"`
	Scopes        []string        `json:"scopes" nullable:"false" doc:"Scopes of the user in the workspace"`
	Settings      *jsonfield.Null `json:"settings"`
	CreatedAt     resource.Stamp  `json:"created_at"`
	LastUpdatedAt resource.Stamp  `json:"last_updated_at"`
}

// viewMembers converts memberships of one workspace to views. It skips memberships whose user is
// not active.
func viewMembers(ctx context.Context, c *resource.Call, ws *resource.Row[tenant.Workspace], rows []*resource.Row[tenant.Member]) ([]memberView, error) {
	org, err := directory.FindOrganisation(ctx, c)
	if err != nil {
		return nil, err
	}
	users, err := directory.UsersOf(ctx, c.Reader, c.OrgID, rows)
	if err != nil {
		return nil, err
	}
	out := make([]memberView, 0, len(rows))
	for _, m := range rows {
		if u, there := users[m.Value.UserID]; there {
			out = append(out, viewMember(&org.Value, ws, u, m))
		}
	}
	return out, nil
}

func viewMember(org *tenant.Organisation, ws *resource.Row[tenant.Workspace], u *resource.Row[tenant.User], m *resource.Row[tenant.Member]) memberView {
	p := &access.Principal{Kind: access.BySession, OrgID: ws.OrgID, UserID: u.ID}
	org.ApplyUserRights(p, &u.Value, map[string]tenant.Membership{ws.ID: {Role: m.Value.Role, Workspace: &ws.Value}})
	scopes := append(p.Allowed(ws.ID), "organisations.read", "organisation_users.read", "generations.create")
	slices.Sort(scopes)
	return memberView{
		Object: "workspace-user", ID: u.ID, FirstName: u.Value.FirstName, LastName: u.Value.LastName, Email: u.Value.Email, OrgRole: u.Value.Role,
		Role: m.Value.Role, Status: resource.Active, WorkspaceID: ws.ID, Scopes: slices.Compact(scopes), CreatedAt: resource.Stamp(m.Created), LastUpdatedAt: resource.Stamp(m.Updated),
	}
}
