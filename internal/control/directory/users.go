package directory

import (
	"context"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/fault"
)

// FindMember returns the active membership of a user, or fault.NotFound.
func FindMember(ctx context.Context, from resource.Reader, workspace resource.Record, userID string) (*resource.Row[tenant.Member], error) {
	rows, err := resource.ListRows[tenant.Member](ctx, from, resource.Query{
		Kind: tenant.MemberKind, OrgID: workspace.OrgID, WorkspaceID: workspace.ID, Statuses: []string{resource.Active},
		Index: []resource.IndexEntry{{Name: UserEntry, Value: userID}}, Limit: 1,
	})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fault.New(fault.NotFound, "the user is not a member of the workspace").WithParam("userId")
	}
	return rows[0], nil
}

// CurrentUser returns a user, or the zero value if the user does not exist any more.
func CurrentUser(ctx context.Context, from resource.Reader, id string) (tenant.User, error) {
	if id == "" {
		return tenant.User{}, nil
	}
	u, err := resource.FindLive[tenant.User](ctx, from, tenant.UserKind, id)
	if fault.Has(err, fault.NotFound) {
		return tenant.User{}, nil
	}
	if err != nil {
		return tenant.User{}, err
	}
	return u.Value, nil
}

// FullName returns a user's name for mails.
func FullName(u tenant.User) string { return strings.TrimSpace(u.FirstName + " " + u.LastName) }

// UserEntry is the index entry that finds the memberships of a user.
const UserEntry = "user"

// The index entries of a user. An email address belongs to at most one user of an
// organisation.
const (
	EmailEntry   = "email"
	EmailOfOrg   = "email_in_organisation"
	OrgRoleEntry = "role"
)

// MaxUsers is the maximum number of users or members that one search reads at a time.
const MaxUsers = 1000

// FindUser returns an active user of the caller's organisation, or fault.NotFound at path.
func FindUser(ctx context.Context, c *resource.Call, id, path string) (*resource.Row[tenant.User], error) {
	u, err := resource.FindLive[tenant.User](ctx, c.Reader, tenant.UserKind, id)
	if fault.Has(err, fault.NotFound) || err == nil && u.OrgID != c.OrgID {
		return nil, UserNotFound(path)
	}
	return u, err
}

// UserNotFound returns fault.NotFound for a user that a field or placeholder names.
func UserNotFound(path string) error {
	return fault.New(fault.NotFound, "the user does not exist").WithParam(path)
}

// UsersByID returns the active users of an organisation with the given ids, by id.
func UsersByID(ctx context.Context, from resource.Reader, orgID string, ids []string) (map[string]*resource.Row[tenant.User], error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := resource.ListRows[tenant.User](ctx, from, resource.Query{Kind: tenant.UserKind, OrgID: orgID, IDs: ids, Statuses: []string{resource.Active}, Limit: MaxUsers})
	if err != nil {
		return nil, err
	}
	users := make(map[string]*resource.Row[tenant.User], len(rows))
	for _, u := range rows {
		users[u.ID] = u
	}
	return users, nil
}

// UsersOf returns the active users of memberships, by user id.
func UsersOf(ctx context.Context, from resource.Reader, orgID string, members []*resource.Row[tenant.Member]) (map[string]*resource.Row[tenant.User], error) {
	return UsersByID(ctx, from, orgID, jsonfield.Convert(members, func(m *resource.Row[tenant.Member]) string { return m.Value.UserID }))
}
