package upstreams

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/fault"
)

// userAccessIn lists which users may use a server.
// Source: contract/content-and-observability.yaml, PUT /mcp-servers/{id}/user-access.
type userAccessIn struct {
	Users   []userAccessOne `json:"user_access,omitempty" nullable:"false" maxItems:"1000"`
	Default string          `json:"default_user_access,omitempty" enum:"allow,deny" doc:"Access of users who are not listed; allow by default"`
}

type userAccessOne struct {
	UserID  string `json:"user_id" format:"uuid" doc:"Id of a member of the workspace"`
	Enabled bool   `json:"enabled"`
}

type userAccessView struct {
	UserID      string  `json:"user_id" format:"uuid"`
	FirstName   *string `json:"first_name" nullable:"true"`
	LastName    *string `json:"last_name" nullable:"true"`
	Enabled     bool    `json:"enabled"`
	HasOverride bool    `json:"has_override" doc:"Whether the user has their own setting instead of the default"`
	Connection  string  `json:"connection_status,omitempty" enum:"connected,not_connected" doc:"Tool servers only: whether the user is signed in there"`
}

type userAccessList struct {
	resource.MoreOf[userAccessView]
	Default string `json:"default_user_access" enum:"allow,deny"`
}

// doneView is the response {"success": true}.
type doneView struct {
	Success bool `json:"success"`
}

// maxUserAccess limits the users that are named for one server.
const maxUserAccess = 2000

// accessActions read and change which users may use a server. They are for callers who act for
// others in the workspace. stem is the prefix of their scopes.
func (f *serverKind[I, S]) accessActions(idName, stem string) []resource.Action[S] {
	return []resource.Action[S]{
		{
			Name: "read", Scope: stem + ".read", Method: http.MethodGet, Path: "/user-access", ID: "list" + idName + "UserAccess", Summary: "List the workspace members and their access to the server",
			Query:    append(pagesFrom1(), resource.Param{Name: "search", Doc: "Part of the name or email address", MaxLength: 255}),
			Response: userAccessList{}, Read: f.listUserAccess,
		},
		{
			Name: "manage_access", Scope: stem + ".update", Method: http.MethodPut, Path: "/user-access", ID: "update" + idName + "UserAccess",
			Summary: "Set which workspace members may use the server", Body: userAccessIn{}, Response: doneView{}, Run: f.putUserAccess,
		},
	}
}

// pagesFrom1 returns the paging parameters of lists whose first page is 1.
// Source: contract/content-and-observability.yaml, conventions.paging.page_1.
func pagesFrom1() []resource.Param {
	return []resource.Param{
		{Name: "page", Doc: "Page number, starting at 1", Type: "integer", Default: "1", Min: 1, Max: 1_000_000},
		{Name: "page_size", Doc: "Rows per page", Type: "integer", Default: "100", Min: 1, Max: 500},
	}
}

// pageOf returns the requested page of a list.
func pageOf[V any](c *resource.Call, all []V) resource.MoreOf[V] {
	size := c.Int("page_size")
	from := min((c.Int("page")-1)*size, len(all))
	to := min(from+size, len(all))
	return resource.MoreOf[V]{
		ListOf:  resource.ListOf[V]{Object: "list", Total: len(all), Data: append([]V{}, all[from:to]...)},
		HasMore: to < len(all),
	}
}

func onlyLeaders(c *resource.Call, workspaceID string) error {
	if !c.Principal.CanManageUsers(workspaceID) {
		return fault.New(fault.Forbidden, "only admins and managers of the workspace can manage the access of others")
	}
	return nil
}

func (f *serverKind[I, S]) listUserAccess(ctx context.Context, c *resource.Call, r resource.Row[S]) (any, error) {
	if err := onlyLeaders(c, r.WorkspaceID); err != nil {
		return nil, err
	}
	users, err := memberUsers(ctx, c.Reader, c.OrgID, r.WorkspaceID)
	if err != nil {
		return nil, err
	}
	connected, err := connectedUsers(ctx, c.Reader, f, r.Record)
	if err != nil {
		return nil, err
	}
	s := f.fieldsOf(&r.Value)
	search := strings.ToLower(c.Query("search"))
	var list []userAccessView
	for _, u := range users {
		if !strings.Contains(strings.ToLower(u.Value.FirstName+" "+u.Value.LastName+"\n"+u.Value.Email), search) {
			continue
		}
		enabled, named := (*s.users)[u.ID]
		v := userAccessView{UserID: u.ID, FirstName: jsonfield.OrNull(u.Value.FirstName), LastName: jsonfield.OrNull(u.Value.LastName), Enabled: enabled, HasOverride: named}
		if !named {
			v.Enabled = !*s.deny
		}
		if connected != nil {
			v.Connection = map[bool]string{true: "connected", false: "not_connected"}[connected[u.ID]]
		}
		list = append(list, v)
	}
	return userAccessList{pageOf(c, list), map[bool]string{true: "deny", false: "allow"}[*s.deny]}, nil
}

func (f *serverKind[I, S]) putUserAccess(ctx context.Context, _ resource.Tx, c *resource.Call, ch *resource.Edit[S]) (any, error) {
	if err := onlyLeaders(c, ch.New.WorkspaceID); err != nil {
		return nil, err
	}
	var sent []userAccessOne
	if err := c.Sent.Into("user_access", &sent); err != nil {
		return nil, err
	}
	if len(sent) == 0 && !c.Sent.Has("default_user_access") && !c.ChangesNothing() {
		return nil, fault.New(fault.InvalidRequest, "send user_access or default_user_access").WithParam("user_access")
	}
	users, err := memberUsers(ctx, c.Reader, c.OrgID, ch.New.WorkspaceID)
	if err != nil {
		return nil, err
	}
	members := make(map[string]bool, len(users))
	for _, u := range users {
		members[u.ID] = true
	}
	s := f.fieldsOf(&ch.New.Value)
	next := map[string]bool{}
	for id, enabled := range *s.users { // users who left the workspace are removed
		if members[id] {
			next[id] = enabled
		}
	}
	for i, u := range sent {
		if !members[u.UserID] {
			return nil, fault.New(fault.ReferenceMissing, "the user is not a member of the workspace").WithParam(fmt.Sprintf("user_access[%d].user_id", i))
		}
		next[u.UserID] = u.Enabled
	}
	if len(next) > maxUserAccess {
		return nil, fault.Newf(fault.InvalidParameter, "must not list more than %d users; set default_user_access for the others", maxUserAccess).WithParam("user_access")
	}
	*s.users = next
	if v := c.Sent.Text("default_user_access"); v != "" {
		*s.deny = v == "deny"
	}
	return doneView{true}, nil
}

// memberUsers returns the users who are members of a workspace, in the order in which the users
// were created.
func memberUsers(ctx context.Context, from resource.Reader, orgID, workspaceID string) ([]*resource.Row[tenant.User], error) {
	q := resource.Query{Kind: tenant.MemberKind, OrgID: orgID, WorkspaceID: workspaceID, Statuses: []string{resource.Active}, Limit: directory.MaxUsers}
	all := map[string]*resource.Row[tenant.User]{}
	err := resource.EachPage(ctx, from, q, func(members []*resource.Row[tenant.Member]) error {
		users, err := directory.UsersOf(ctx, from, orgID, members)
		maps.Copy(all, users)
		return err
	})
	if err != nil {
		return nil, err
	}
	list := make([]*resource.Row[tenant.User], 0, len(all))
	for _, id := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[id])
	}
	return list, nil
}
