package logs

import (
	"context"
	"slices"
	"strings"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
)

// nameAudit adds the present names of users, API keys and workspaces to the records. The trail
// stores only ids, because names change.
func nameAudit(ctx context.Context, c *resource.Call, records []auditRecord) error {
	org, err := directory.FindOrganisation(ctx, c)
	if err != nil {
		return err
	}
	ids := func(field func(*auditRecord) string) []string {
		var list []string
		for i := range records {
			if id := field(&records[i]); id != "" && !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
		return list
	}
	callers, err := recordsNamed[keys.Key](ctx, c, keys.Kind, ids(func(r *auditRecord) string { return r.UserID }))
	if err != nil {
		return err
	}
	owners := ids(func(r *auditRecord) string { return r.UserID })
	for _, k := range callers {
		owners = append(owners, k.Value.UserID)
	}
	users, err := recordsNamed[tenant.User](ctx, c, tenant.UserKind, owners)
	if err != nil {
		return err
	}
	workspaces, err := recordsNamed[tenant.Workspace](ctx, c, tenant.WorkspaceKind, ids(func(r *auditRecord) string { return r.WorkspaceID }))
	if err != nil {
		return err
	}
	for i := range records {
		r := &records[i]
		owner := r.UserID
		if k := callers[r.UserID]; k != nil {
			r.UserName, owner = k.Value.Name, k.Value.UserID
		}
		if u := users[owner]; u != nil {
			r.UserEmail = u.Value.Email
			if r.UserName == "" {
				r.UserName = strings.TrimSpace(u.Value.FirstName + " " + u.Value.LastName)
			}
		}
		if p := workspaces[r.WorkspaceID]; p != nil {
			r.WorkspaceName = p.Value.Name
		}
		if r.OrgID == org.ID {
			r.OrgName = org.Value.Name
		}
	}
	return nil
}

// recordsNamed returns the records of a kind with the given ids, by id, including archived ones.
// A page of the trail has at most 100 rows and therefore 200 ids.
func recordsNamed[T any](ctx context.Context, c *resource.Call, kind string, ids []string) (map[string]*resource.Row[T], error) {
	m := make(map[string]*resource.Row[T])
	if len(ids) == 0 {
		return m, nil
	}
	rows, err := resource.ListRows[T](ctx, c.Reader, resource.Query{Kind: kind, OrgID: c.OrgID, IDs: ids, Limit: 1000})
	for _, r := range rows {
		m[r.ID] = r
	}
	return m, err
}
