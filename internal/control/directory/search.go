package directory

import (
	"cmp"
	"context"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/domain/tenant"
)

// SearchParam returns a parameter that narrows a list of people.
func SearchParam(name string) resource.Param {
	return resource.Param{Name: name, Doc: "Part of the name or email address", MaxLength: 255}
}

// MatchesUser reports whether the name or the e-mail of a user contains a text in lower case.
func MatchesUser(u *tenant.User, text string) bool {
	return strings.Contains(strings.ToLower(u.FirstName+" "+u.LastName), text) || strings.Contains(strings.ToLower(u.Email), text)
}

// SearchUsers narrows a query of users to those that the parameters search and name select, at
// most MaxUsers. id returns the record id that q is narrowed to for a user; "" leaves the
// user out.
func SearchUsers(ctx context.Context, c *resource.Call, q *resource.Query, id func(*resource.Row[tenant.User]) (string, error)) error {
	text := strings.ToLower(strings.TrimSpace(cmp.Or(c.Query("search"), c.Query("name"))))
	if text == "" {
		return nil
	}
	ids := []string{}
	all := resource.Query{Kind: tenant.UserKind, OrgID: c.OrgID, Statuses: []string{resource.Active}, Limit: MaxUsers}
	err := resource.EachPage(ctx, c.Reader, all, func(rows []*resource.Row[tenant.User]) error {
		for _, r := range rows {
			if len(ids) == MaxUsers || !MatchesUser(&r.Value, text) {
				continue
			}
			found, err := id(r)
			if err != nil {
				return err
			}
			if found != "" {
				ids = append(ids, found)
			}
		}
		return nil
	})
	q.IDs = ids
	return err
}

// SearchMembers narrows a query of the members of a workspace in the same way.
func SearchMembers(ctx context.Context, c *resource.Call, workspace resource.Record, q *resource.Query) error {
	if c.Query("search") == "" && c.Query("name") == "" {
		return nil
	}
	members := make(map[string]string) // membership ids by user id
	all := resource.Query{Kind: tenant.MemberKind, OrgID: workspace.OrgID, WorkspaceID: workspace.ID, Statuses: []string{resource.Active}, Limit: MaxUsers}
	err := resource.EachPage(ctx, c.Reader, all, func(rows []*resource.Row[tenant.Member]) error {
		for _, r := range rows {
			members[r.Value.UserID] = r.ID
		}
		return nil
	})
	if err != nil {
		return err
	}
	return SearchUsers(ctx, c, q, func(r *resource.Row[tenant.User]) (string, error) { return members[r.ID], nil })
}
