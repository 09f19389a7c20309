package admin

import (
	"context"
	"slices"
	"strings"

	"sluice/internal/access"
	"sluice/internal/fault"
	"sluice/internal/keys"
	"sluice/internal/resource"
	"sluice/internal/tenant"
)

// maxRecipients limits the recipients of one event.
const maxRecipients = 200

// rotationRecipients returns the recipients of mails about rotations of a key: the owners and
// admins of the organisation, the user of a user key, and its alert addresses.
// Source: contract/identity-and-governance.yaml, emails.recipients.
func rotationRecipients(ctx context.Context, from resource.Reader, r *resource.Row[keys.Key]) ([]string, error) {
	to, err := adminEmails(ctx, from, r.OrgID, "")
	if err != nil {
		return nil, err
	}
	return addKeyRecipients(ctx, from, r, to)
}

// keyRecipients returns the recipients of mails about the limits and the expiry of a key:
// rotationRecipients, and the admins and managers of its workspace.
func keyRecipients(ctx context.Context, from resource.Reader, r *resource.Row[keys.Key]) ([]string, error) {
	to, err := adminEmails(ctx, from, r.OrgID, r.WorkspaceID)
	if err != nil {
		return nil, err
	}
	return addKeyRecipients(ctx, from, r, to)
}

// limitRecipients returns the recipients of mails about the limits and the expiry of other
// records: the owners and admins of the organisation, and the admins and managers of the
// workspace.
func limitRecipients(ctx context.Context, from resource.Reader, orgID, workspaceID string) ([]string, error) {
	return adminEmails(ctx, from, orgID, workspaceID)
}

// adminEmails returns the addresses of the owners and admins of the organisation and, with a
// workspace, of its admins and managers.
func adminEmails(ctx context.Context, from resource.Reader, orgID, workspaceID string) ([]string, error) {
	var to []string
	for _, role := range []access.Role{access.Owner, access.Admin} {
		users, err := rowsOf[tenant.User](ctx, from, resource.Query{
			Kind: tenant.UserKind, OrgID: orgID, Statuses: []string{resource.Active}, Limit: maxRecipients,
			Index: []resource.IndexEntry{{Name: orgRoleEntry, Value: string(role)}},
		})
		if err != nil {
			return nil, err
		}
		for _, u := range users {
			to = append(to, u.Value.Email)
		}
	}
	if workspaceID == "" {
		return to, nil
	}
	for _, role := range []access.Role{access.Admin, access.Manager} {
		members, err := rowsOf[tenant.Member](ctx, from, resource.Query{
			Kind: tenant.MemberKind, OrgID: orgID, WorkspaceID: workspaceID, Statuses: []string{resource.Active}, Limit: maxRecipients,
			Index: []resource.IndexEntry{{Name: "role", Value: string(role)}},
		})
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			u, err := userNow(ctx, from, m.Value.UserID)
			if err != nil {
				return nil, err
			}
			to = append(to, u.Email)
		}
	}
	return to, nil
}

// addKeyRecipients adds the user of a key and its alert addresses.
func addKeyRecipients(ctx context.Context, from resource.Reader, r *resource.Row[keys.Key], to []string) ([]string, error) {
	u, err := userNow(ctx, from, r.Value.UserID)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]string{u.Email}, r.Value.AlertEmails, to), nil
}

// userNow returns a user, or the zero value if the user does not exist any more.
func userNow(ctx context.Context, from resource.Reader, id string) (tenant.User, error) {
	if id == "" {
		return tenant.User{}, nil
	}
	u, err := live[tenant.User](ctx, from, tenant.UserKind, id)
	if fault.Has(err, fault.NotFound) {
		return tenant.User{}, nil
	}
	if err != nil {
		return tenant.User{}, err
	}
	return u.Value, nil
}

// fullName returns a user's name for mails.
func fullName(u tenant.User) string { return strings.TrimSpace(u.FirstName + " " + u.LastName) }

// eachOnce returns every address once, ignoring case, without empty ones.
func eachOnce(to []string) []string {
	var out []string
	for _, a := range to {
		if a != "" && !slices.ContainsFunc(out, func(b string) bool { return strings.EqualFold(a, b) }) {
			out = append(out, a)
		}
	}
	return out[:min(len(out), maxRecipients)]
}

// orgName returns the name of an organisation for mails.
func orgName(ctx context.Context, from resource.Reader, orgID string) (string, error) {
	org, err := live[tenant.Organisation](ctx, from, tenant.OrganisationKind, orgID)
	if err != nil {
		return "", err
	}
	return org.Value.Name, nil
}
