package live

import (
	"encoding/json"

	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
)

func decodeOrganisation(_ *Directory, r resource.Record) (any, error) {
	var o tenant.Organisation
	return &o, json.Unmarshal(r.Body, &o)
}

func decodeUser(_ *Directory, r resource.Record) (any, error) {
	var u tenant.User
	return &u, json.Unmarshal(r.Body, &u)
}

type member struct {
	tenant.Member
	workspace string
}

func decodeMember(_ *Directory, r resource.Record) (any, error) {
	m := &member{workspace: r.WorkspaceID}
	return m, json.Unmarshal(r.Body, &m.Member)
}

// withUserRights returns a copy of the entry of a user key with the rights of its user. It
// copies because earlier snapshots share the parts. A deleted user has no rights.
func (p parts) withUserRights(e *keys.Entry, roles map[string]map[string]access.Role) *keys.Entry {
	org, known := p[tenant.OrganisationKind][e.Principal.OrgID].(*tenant.Organisation)
	user, there := p[tenant.UserKind][e.Key.UserID].(*tenant.User)
	if e.Key.Type != access.WorkspaceUser || !known || !there {
		return e
	}
	memberships := make(map[string]tenant.Membership, 1)
	workspaceID := e.Principal.WorkspaceID
	if role, isMember := roles[e.Key.UserID][workspaceID]; isMember {
		if ws, live := p[tenant.WorkspaceKind][workspaceID].(*workspace); live {
			memberships[workspaceID] = tenant.Membership{Role: role, Workspace: &ws.Workspace}
		}
	}
	entry := *e
	org.ApplyUserRights(&entry.Principal, user, memberships)
	return &entry
}

// scope returns a workspace with the settings of its organisation. If the organisation is
// missing, default settings apply.
func (p parts) scope(id string, w *workspace) *tenant.Scope {
	org, ok := p[tenant.OrganisationKind][w.org].(*tenant.Organisation)
	if !ok {
		org = &tenant.Organisation{}
	}
	scope := org.ScopeOf(w.org, &w.Workspace)
	scope.Slug = w.slug
	scope.SetGuardrails(id, org)
	return scope
}
