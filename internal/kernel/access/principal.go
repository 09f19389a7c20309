// Package access describes callers and their rights: principals, roles, key types and scopes.
// Start with Principal, then read Can, which decides whether a caller may use a scope.
package access

import (
	"sort"
	"time"

	"sluice/internal/kernel/fault"
)

// KeyType is the type of an API key, in its wire form.
// Source: spec, API key; contract/identity-and-governance.md section 1.
type KeyType string

// The key types.
const (
	OrganisationService KeyType = "organisation-service" // Admin key
	WorkspaceService    KeyType = "workspace-service"
	WorkspaceUser       KeyType = "workspace-user"
)

// Role is the role of a user in the organisation or in a workspace.
type Role string

// The roles: Owner, Admin and Member of an organisation; Admin, Manager and
// Member of a workspace.
const (
	Owner   Role = "owner"
	Admin   Role = "admin"
	Manager Role = "manager"
	Member  Role = "member"
)

// Principal is an identified caller. It does not change after creation, so concurrent requests
// may share it.
type Principal struct {
	Kind        PrincipalKind
	ID          string  // id of the key or the session
	Name        string  // display name: the name of the key, or the e-mail address of the user
	KeyType     KeyType // set for keys
	OrgID       string
	WorkspaceID string // workspace to which a workspace key is restricted
	UserID      string // set for user keys and sessions
	Scopes      Scopes // set for keys and tokens

	// Expires is the expiry time of the key. It is nil for a key that never expires, and for
	// sessions and tokens. The value is shared and must not be changed.
	Expires *time.Time

	OrgRole     Role                  // set for sessions and user keys: the role of the user in the organisation
	Switches    Switches              // set for sessions and user keys: the toggles that are on in the organisation
	Memberships map[string]Membership // set for sessions and user keys: the workspaces of the user, by id
}

// Membership is the role of a user in a workspace, with the toggles that are on there.
type Membership struct {
	Role     Role
	Switches Switches
}

// PrincipalKind is the way in which a caller was identified.
type PrincipalKind string

// The kinds of principal.
const (
	ByKey     PrincipalKind = "key"
	BySession PrincipalKind = "session"
	ByToken   PrincipalKind = "jwt"
)

// IsAdminKey reports whether the caller is an organisation-wide service key.
func (p *Principal) IsAdminKey() bool { return p.Kind == ByKey && p.KeyType == OrganisationService }

// IsOrgWide reports whether the caller may name any workspace of the organisation: an
// Admin key, and a session of an owner or admin of the organisation.
func (p *Principal) IsOrgWide() bool {
	return p.IsAdminKey() || p.Kind == BySession && p.isOrgAdmin()
}

// isOrgAdmin reports whether the user owns or administers the organisation.
func (p *Principal) isOrgAdmin() bool { return p.OrgRole == Owner || p.OrgRole == Admin }

// isUserBound reports whether the rights of a user limit those of the caller. A session acts as
// its user, and a user key has at most the rights of its user.
func (p *Principal) isUserBound() bool {
	return p.Kind == BySession || p.Kind == ByKey && p.KeyType == WorkspaceUser
}

// IsLimitedToUserData reports whether the caller sees only logs and analytics made with
// keys of their own user in a workspace. Source:
// contract/identity-and-governance.md section 3.
func (p *Principal) IsLimitedToUserData(workspaceID string) bool {
	if !p.isUserBound() || p.isOrgAdmin() {
		return false
	}
	membership := p.Memberships[workspaceID]
	if membership.Role == Manager {
		return !membership.Switches.has("managersViewAllData")
	}
	return membership.Role != Admin && !membership.Switches.has("membersViewAllData")
}

// CanManageUsers reports whether the caller may act for other users of a workspace. Its admins
// and managers may, and so may those of the organisation and keys without a user.
func (p *Principal) CanManageUsers(workspaceID string) bool {
	if !p.isUserBound() || p.isOrgAdmin() {
		return true
	}
	role := p.Memberships[workspaceID].Role
	return role == Admin || role == Manager
}

// Target is the object of an action.
type Target struct {
	OrgID       string
	WorkspaceID string // empty for objects of the organisation
}

// Can checks whether p may use a scope on a target. The caller must hold the scope and belong
// to the organisation, and a workspace key is limited to its workspace. The roles of a user
// give a session its scopes. A user key has at most the scopes of its user. A refusal is
// fault.Forbidden and names the scope. A target outside the caller's reach is fault.Forbidden
// too, and the error does not reveal whether the target exists.
func Can(p *Principal, scope Scope, t Target) error {
	if err := p.checkScope(scope); err != nil {
		return err
	}
	if t.OrgID != "" && t.OrgID != p.OrgID {
		return fault.New(fault.Forbidden, "this resource is not in your organisation")
	}
	if p.WorkspaceID != "" && t.WorkspaceID != p.WorkspaceID {
		return fault.New(fault.Forbidden, "this resource is not in the workspace of the API key")
	}
	if p.isUserBound() && !p.mayAt(scope, t.WorkspaceID) {
		return fault.Newf(fault.Forbidden, "your role does not allow this here (%s)", scope)
	}
	return nil
}

// CanSomewhere checks whether p may use a scope on any target. It is the first check of a call.
// Can follows when the target is known.
func CanSomewhere(p *Principal, scope Scope) error {
	if err := p.checkScope(scope); err != nil || !p.isUserBound() || p.mayAt(scope, "") {
		return err
	}
	for id := range p.Memberships {
		if p.mayAt(scope, id) {
			return nil
		}
	}
	return fault.Newf(fault.Forbidden, "your role does not allow this (%s)", scope)
}

// mayAt decides for a user in a workspace, or outside all workspaces.
func (p *Principal) mayAt(scope Scope, workspaceID string) bool {
	if p.isOrgAdmin() {
		toggle, hasToggle := adminToggles[scope]
		return p.OrgRole == Owner || !hasToggle || p.Switches.has(toggle)
	}
	r := ruleOf(scope)
	if r.ruleScope == anywhere {
		return true
	}
	membership, isMember := p.Memberships[workspaceID]
	return isMember && r.opens(membership)
}

// CanCall checks whether p may send model traffic with the scope. Admin keys may not, whatever
// their scopes. Source: contract/identity-and-governance.md section 1.
func CanCall(p *Principal, scope Scope) error {
	if p.IsAdminKey() {
		return fault.New(fault.Forbidden, "an Admin key cannot send model traffic; use a workspace key")
	}
	return p.checkScope(scope)
}

// checkScope refuses a key or token that does not hold a scope. It does not check sessions:
// their rights follow from the roles of the user alone.
func (p *Principal) checkScope(s Scope) error {
	if p.Kind == BySession || p.Scopes.Has(s) {
		return nil
	}
	return fault.Newf(fault.Forbidden, "the API key lacks the %s scope", s).WithParam("scopes")
}

// RoleAt returns the role in a workspace of the user of a session or user key. It is empty for
// keys without a user, for users who are not members, and for owners and admins of the
// organisation, whom no workspace role limits.
func (p *Principal) RoleAt(workspaceID string) Role {
	if !p.isUserBound() || p.isOrgAdmin() {
		return ""
	}
	return p.Memberships[workspaceID].Role
}

// BelongsTo reports whether the caller has access to a workspace of their organisation. Users
// have access to workspaces of which they are members. Owners and admins of the organisation
// and keys without a user have access to all that the key permits.
func (p *Principal) BelongsTo(workspaceID string) bool {
	if p.WorkspaceID != "" && p.WorkspaceID != workspaceID {
		return false
	}
	_, isMember := p.Memberships[workspaceID]
	return isMember || !p.isUserBound() || p.isOrgAdmin()
}

// Actor returns the id that audit trails and records contain: the user of a session, otherwise
// the key.
func (p *Principal) Actor() string {
	if p.Kind == BySession {
		return p.UserID
	}
	return p.ID
}

// Allowed returns the scopes that a session may use in a workspace, sorted.
func (p *Principal) Allowed(workspaceID string) []string {
	var out []string
	for s := range ruleByScope {
		if p.mayAt(s, workspaceID) {
			out = append(out, string(s))
		}
	}
	sort.Strings(out)
	return out
}
