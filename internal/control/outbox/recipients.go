package outbox

import (
	"context"
	"slices"
	"strings"
	"time"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
)

// maxRecipients limits the recipients of one event.
const maxRecipients = 200

// RotationRecipients returns the recipients of mails about rotations of a key: the owners and
// admins of the organisation, the user of a user key, and its alert addresses.
// Source: contract/identity-and-governance.yaml, emails.recipients.
func RotationRecipients(ctx context.Context, from resource.Reader, r *resource.Row[keys.Key]) ([]string, error) {
	to, err := adminEmails(ctx, from, r.OrgID, "")
	if err != nil {
		return nil, err
	}
	return addKeyRecipients(ctx, from, r, to)
}

// KeyRecipients returns the recipients of mails about the limits and the expiry of a key:
// RotationRecipients, and the admins and managers of its workspace.
func KeyRecipients(ctx context.Context, from resource.Reader, r *resource.Row[keys.Key]) ([]string, error) {
	to, err := adminEmails(ctx, from, r.OrgID, r.WorkspaceID)
	if err != nil {
		return nil, err
	}
	return addKeyRecipients(ctx, from, r, to)
}

// LimitRecipients returns the recipients of mails about the limits and the expiry of other
// records: the owners and admins of the organisation, and the admins and managers of the
// workspace.
func LimitRecipients(ctx context.Context, from resource.Reader, orgID, workspaceID string) ([]string, error) {
	return adminEmails(ctx, from, orgID, workspaceID)
}

// adminEmails returns the addresses of the owners and admins of the organisation and, with a
// workspace, of its admins and managers.
func adminEmails(ctx context.Context, from resource.Reader, orgID, workspaceID string) ([]string, error) {
	var to []string
	for _, role := range []access.Role{access.Owner, access.Admin} {
		users, err := resource.ListRows[tenant.User](ctx, from, resource.Query{
			Kind: tenant.UserKind, OrgID: orgID, Statuses: []string{resource.Active}, Limit: maxRecipients,
			Index: []resource.IndexEntry{{Name: directory.OrgRoleEntry, Value: string(role)}},
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
		members, err := resource.ListRows[tenant.Member](ctx, from, resource.Query{
			Kind: tenant.MemberKind, OrgID: orgID, WorkspaceID: workspaceID, Statuses: []string{resource.Active}, Limit: maxRecipients,
			Index: []resource.IndexEntry{{Name: "role", Value: string(role)}},
		})
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			u, err := directory.CurrentUser(ctx, from, m.Value.UserID)
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
	u, err := directory.CurrentUser(ctx, from, r.Value.UserID)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]string{u.Email}, r.Value.AlertEmails, to), nil
}

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

// KeyTypes are the names of key types in mails.
var KeyTypes = map[access.KeyType]string{access.OrganisationService: "Admin", access.WorkspaceService: "service", access.WorkspaceUser: "user"}

// FormatTime returns a time as mails show it: "2026-11-23 00:00 UTC".
func FormatTime(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
