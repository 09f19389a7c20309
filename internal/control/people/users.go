package people

import (
	"context"
	"net/http"
	"net/mail"
	"strings"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/identity"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// users returns the routes of the users of the organisation. They are not a resource.Kind,
// because no route here creates a user (an accepted invitation or a first login does), and
// because their lists use other paging parameters.
// Source: contract/identity-and-governance.yaml, users and invites.
func (k users) users() resource.Resource {
	one := []resource.Param{{Name: "userId", Doc: "Id of the user", Format: "uuid"}}
	return resource.Operations{
		{
			Method: http.MethodGet, Path: "/admin/users", ID: "listUsers", Summary: "List the users of the organisation", Tag: "Users", Scopes: []access.Scope{"organisation_users.list"},
			Query: append(resource.Paging(50, 0), resource.Param{Name: "role", Enum: []string{"admin", "member", "owner"}}, resource.Param{Name: "email"}, directory.SearchParam("search"), directory.SearchParam("name")), Response: resource.ListOf[userView]{}, Run: listUsers,
		},
		{
			Method: http.MethodGet, Path: "/admin/users/{userId}", ID: "getUser", Summary: "Read one user with their workspaces", Tag: "Users", Params: one,
			Scopes: []access.Scope{"organisation_users.read"}, Response: userView{}, Run: getUser,
		},
		{
			Method: http.MethodPut, Path: "/admin/users/{userId}", ID: "updateUser", Summary: "Change the role of a user in the organisation", Tag: "Users", Params: one,
			Scopes: []access.Scope{"organisation_users.update"}, Body: userPatch{}, Response: userView{}, Audited: "organisation_users", Action: "update", Run: k.putUser,
		},
		{
			Method: http.MethodDelete, Path: "/admin/users/{userId}", ID: "removeUser", Summary: "Remove a user with their memberships, keys and sessions", Tag: "Users", Params: one,
			Scopes: []access.Scope{"organisation_users.delete"}, Audited: "organisation_users", Action: "delete", Run: k.removeUser,
		},
	}
}

type userPatch struct {
	Role access.Role `json:"role" enum:"admin,member"`
}

// userView is a user in responses. Only the response for a single user has the workspaces.
type userView struct {
	Object        string         `json:"object" enum:"user"`
	ID            string         `json:"id" format:"uuid"`
	FirstName     string         `json:"first_name"`
	LastName      string         `json:"last_name"`
	Email         string         `json:"email"`
	Role          access.Role    `json:"role" enum:"owner,admin,member"`
	Status        string         `json:"status" enum:"active,archived"`
	CreatedAt     resource.Stamp `json:"created_at"`
	LastUpdatedAt resource.Stamp `json:"last_updated_at"`
	WorkspaceIDs  []string       `json:"workspace_ids,omitempty" doc:"Slugs; owners and admins belong to all"`
}

func viewUser(r *resource.Row[tenant.User]) userView {
	u := r.Value
	return userView{
		Object: "user", ID: r.ID, FirstName: u.FirstName, LastName: u.LastName, Email: u.Email, Role: u.Role, Status: r.Status,
		CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated),
	}
}

// UserIndex returns the index entries of a user. Other packages that
// create users need them, too.
func UserIndex(orgID string, u *tenant.User) []resource.IndexEntry {
	email := shortened(u.Email)
	return []resource.IndexEntry{
		{Name: directory.EmailEntry, Value: email}, {Name: directory.EmailOfOrg, Value: orgID + "/" + shortened36(email), Unique: true}, {Name: directory.OrgRoleEntry, Value: string(u.Role)},
	}
}

// shortened returns an index value for a string: the string itself, or its hash if it is longer
// than 255 bytes.
func shortened(s string) string {
	if len(s) <= 255 {
		return s
	}
	return jsonfield.Digest(s)
}

// shortened36 is like shortened, but leaves space for an id and a separator before the value.
func shortened36(s string) string {
	if len(s) <= 255-37 {
		return s
	}
	return jsonfield.Digest(s)
}

// Email returns an email address in the form in which addresses are stored and compared. It
// returns fault.InvalidParameter at path if s is not an address.
func Email(s, path string) (string, error) {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != strings.TrimSpace(s) || len(s) > 254 {
		return "", fault.New(fault.InvalidParameter, "must be an email address").WithParam(path)
	}
	return strings.ToLower(a.Address), nil
}

// userByEmail returns the active user of an organisation with an address, or fault.NotFound.
func userByEmail(ctx context.Context, from resource.Reader, orgID, email string) (*resource.Row[tenant.User], error) {
	rows, err := resource.ListRows[tenant.User](ctx, from, resource.Query{
		Kind: tenant.UserKind, OrgID: orgID, Statuses: []string{resource.Active}, Limit: 1,
		Index: []resource.IndexEntry{{Name: directory.EmailEntry, Value: shortened(strings.ToLower(strings.TrimSpace(email)))}},
	})
	if err == nil && len(rows) == 0 {
		err = fault.New(fault.NotFound, "")
	}
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// peoplePage sets the requested page in a query. The default is 50 records.
func peoplePage(c *resource.Call, q *resource.Query) {
	q.Limit = orUsual(c.Int("page_size"), 50)
	q.Offset = c.Int("current_page") * q.Limit
}

func listUsers(ctx context.Context, c *resource.Call) (any, error) {
	q := resource.Query{Kind: tenant.UserKind, OrgID: c.OrgID, Statuses: []string{resource.Active}, Newest: true}
	if role := c.Query("role"); role != "" {
		q.Index = append(q.Index, resource.IndexEntry{Name: directory.OrgRoleEntry, Value: role})
	}
	if email := c.Query("email"); email != "" {
		q.Index = append(q.Index, resource.IndexEntry{Name: directory.EmailEntry, Value: shortened(strings.ToLower(email))})
	}
	if err := directory.SearchUsers(ctx, c, &q, func(r *resource.Row[tenant.User]) (string, error) { return r.ID, nil }); err != nil {
		return nil, err
	}
	return listed(ctx, c, q, peoplePage, viewUser)
}

// listed returns a page of records, each converted by view. page sets the requested page in the
// query.
func listed[T, V any](ctx context.Context, c *resource.Call, q resource.Query, page func(*resource.Call, *resource.Query), view func(*resource.Row[T]) V) (any, error) {
	total, err := c.Reader.Count(ctx, q)
	if err != nil {
		return nil, err
	}
	page(c, &q)
	rows, err := resource.ListRows[T](ctx, c.Reader, q)
	if err != nil {
		return nil, err
	}
	out := resource.ListOf[V]{Object: "list", Total: total, Data: make([]V, len(rows))}
	for i, r := range rows {
		out.Data[i] = view(r)
	}
	return out, nil
}

func getUser(ctx context.Context, c *resource.Call) (any, error) {
	u, err := directory.FindUser(ctx, c, c.Path("userId"), "userId")
	if err != nil {
		return nil, err
	}
	v := viewUser(u)
	c.Version(u.Record)
	v.WorkspaceIDs, err = slugsOf(ctx, c, u)
	return v, err
}

// slugsOf returns the slugs of the workspaces of a user, at most 1000. Owners and admins belong to
// all workspaces.
func slugsOf(ctx context.Context, c *resource.Call, u *resource.Row[tenant.User]) ([]string, error) {
	q := resource.Query{Kind: tenant.WorkspaceKind, OrgID: c.OrgID, Statuses: []string{resource.Active}, Limit: 1000}
	if u.Value.Role == access.Member {
		members, err := memberships(ctx, c.Reader, c.OrgID, u.ID)
		if err != nil {
			return nil, err
		}
		q.IDs = make([]string, len(members))
		for i, m := range members {
			q.IDs[i] = m.WorkspaceID
		}
	}
	recs, err := c.Reader.List(ctx, q)
	slugs := make([]string, len(recs))
	for i, r := range recs {
		slugs[i] = r.ShownSlug()
	}
	return slugs, err
}

func (k users) putUser(ctx context.Context, c *resource.Call) (any, error) {
	role := access.Role(c.Sent.Text("role"))
	var changed *resource.Row[tenant.User]
	err := c.Change(ctx, func(tx resource.Tx) error {
		u, err := findNonOwner(ctx, c)
		if err != nil {
			return err
		}
		changed = u
		switch same := u.Value.Role == role; {
		case same && c.RepeatsPath(): // the client sent the record as it has read it
			return nil
		case same:
			return fault.Newf(fault.InvalidParameter, "the user already has the role %s", role).WithParam("role")
		}
		u.Value.Role = role
		rec := u.Record
		rec.Body, rec.Index, rec.Updated = jsonfield.Encode(u.Value), UserIndex(u.OrgID, &u.Value), c.Now
		changed.Updated = c.Now
		if err := tx.Update(ctx, rec); err != nil || role != access.Member {
			return err
		}
		return retireNonMemberKeys(ctx, tx, c, u.Record)
	})
	if err != nil {
		return nil, err
	}
	return viewUser(changed), nil
}

// retireNonMemberKeys archives the keys of a user in workspaces of which the user is not a member.
// A user who is no longer an owner or admin of the organisation loses these workspaces.
func retireNonMemberKeys(ctx context.Context, tx resource.Tx, c *resource.Call, user resource.Record) error {
	members, err := memberships(ctx, tx, user.OrgID, user.ID)
	if err != nil {
		return err
	}
	stays := make(map[string]bool, len(members))
	for _, m := range members {
		stays[m.WorkspaceID] = true
	}
	q := resource.Query{Kind: keys.Kind, OrgID: user.OrgID, Statuses: resource.LiveStatuses(), Limit: 1000, Index: []resource.IndexEntry{{Name: directory.UserEntry, Value: user.ID}}}
	for {
		rows, err := tx.List(ctx, q)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			q.After = r.ID
			if stays[r.WorkspaceID] {
				continue
			}
			if err := resource.ArchiveLinked(ctx, tx, c, r); err != nil {
				return err
			}
		}
	}
}

// findNonOwner returns the user that the path names, for a change, and sets the audit target. It
// returns fault.Forbidden for an owner unless the caller is an owner, and fault.InvalidRequest
// for the last owner. For a user who is not an owner it returns fault.Conflict if the caller
// has read another version of the record.
func findNonOwner(ctx context.Context, c *resource.Call) (*resource.Row[tenant.User], error) {
	u, err := directory.FindUser(ctx, c, c.Path("userId"), "userId")
	if err != nil {
		return nil, err
	}
	c.Target(u.Record)
	if u.Value.Role == access.Owner && c.Principal.OrgRole != access.Owner {
		return nil, fault.New(fault.Forbidden, "only an owner can change or remove an owner").WithParam("userId")
	}
	if u.Value.Role != access.Owner {
		return u, c.Unchanged(u.Record)
	}
	owners, err := c.Reader.Count(ctx, resource.Query{Kind: tenant.UserKind, OrgID: c.OrgID, Statuses: []string{resource.Active}, Index: []resource.IndexEntry{{Name: directory.OrgRoleEntry, Value: string(access.Owner)}}})
	if err == nil && owners == 1 {
		err = fault.New(fault.InvalidRequest, "this is the last owner of the organisation")
	}
	return u, err
}

func (k users) removeUser(ctx context.Context, c *resource.Call) (any, error) {
	return resource.Empty{}, c.Change(ctx, func(tx resource.Tx) error {
		u, err := findNonOwner(ctx, c)
		if err != nil {
			return err
		}
		if u.ID == c.Principal.UserID {
			return fault.New(fault.InvalidRequest, "you cannot remove yourself; ask another admin").WithParam("userId")
		}
		if err := resource.ArchiveLinked(ctx, tx, c, u.Record); err != nil {
			return err
		}
		return retireOf(ctx, tx, c, u.OrgID, "", u.ID, tenant.MemberKind, keys.Kind, identity.SessionKind)
	})
}

// retireOf archives the records of kinds that belong to a user, in one workspace, or in all if
// workspaceID is empty.
func retireOf(ctx context.Context, tx resource.Tx, c *resource.Call, orgID, workspaceID, userID string, kinds ...string) error {
	for _, kind := range kinds {
		err := resource.ArchiveAll(ctx, tx, c, resource.Query{
			Kind: kind, OrgID: orgID, WorkspaceID: workspaceID, Limit: 1000, Statuses: resource.LiveStatuses(),
			Index: []resource.IndexEntry{{Name: directory.UserEntry, Value: userID}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
