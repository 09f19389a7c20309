// Package access says who a caller is and what they may do: principals, roles,
// key types and scopes, and the one function that decides.
package access

import (
	"sort"
	"time"

	"sluice/internal/fault"
)

// KeyType is the kind of an API key, as it stands on the wire.
// Source: spec, API key; contract/identity-and-governance.md section 1.
type KeyType string

// The key types.
const (
	OrganisationService KeyType = "organisation-service" // Admin key
	WorkspaceService    KeyType = "workspace-service"
	WorkspaceUser       KeyType = "workspace-user"
)

// Role is what a user is in the organisation or in a workspace.
type Role string

// The roles: Owner, Admin and Member of an organisation; Admin, Manager and
// Member of a workspace.
const (
	Owner   Role = "owner"
	Admin   Role = "admin"
	Manager Role = "manager"
	Member  Role = "member"
)

// Principal is an identified caller. It is not changed once made, so that many
// requests may share it.
type Principal struct {
	Kind        PrincipalKind
	ID          string  // of the key or the session
	Name        string  // for people: the name of the key, the e-mail of the user
	KeyType     KeyType // of keys
	OrgID       string
	WorkspaceID string // the workspace that a workspace key is locked to
	UserID      string // of user keys and sessions
	Scopes      Scopes // of keys and tokens

	// Expires is when the key ends, nil for never and for sessions and tokens, whose users
	// come back with others. It is shared and not changed.
	Expires *time.Time

	OrgRole     Role                  // of sessions and user keys: what the user is in the organisation
	Switches    Switches              // of them: what is on in the organisation
	Memberships map[string]Membership // of them: the workspaces of the user, by id
}

// Membership is what a user is in a workspace, and the toggles that are on there.
type Membership struct {
	Role     Role
	Switches Switches
}

// PrincipalKind says by what a caller was identified.
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

// isUserBound reports whether the rights of a person bound those of the caller: a
// session is a person, and a user key can do no more than its user.
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

// CanManageUsers reports whether the caller may act for other users of a workspace: its admins
// and managers, those of the organisation, and keys that belong to nobody.
func (p *Principal) CanManageUsers(workspaceID string) bool {
	if !p.isUserBound() || p.isOrgAdmin() {
		return true
	}
	role := p.Memberships[workspaceID].Role
	return role == Admin || role == Manager
}

// Target is what an action is about.
type Target struct {
	OrgID       string
	WorkspaceID string // empty for things of the organisation
}

// Can says whether p may use a permission on a target: the scope must be held, the
// organisation must be the caller's, and a workspace key stays in its workspace.
// A session holds what the roles of its user give, and a user key at most that.
// A refusal is fault.Forbidden naming the scope; a target outside the caller's
// reach is fault.Forbidden without telling whether it exists.
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

// CanSomewhere says whether p may use a permission at all, wherever that is. It is
// the first check of a call; Can follows when it is known what the call is about.
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

// mayAt decides for a person in a workspace, or outside of all.
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

// CanCall says whether p may send model traffic with the scope. Admin keys may
// not, whatever their scopes. Source: contract/identity-and-governance.md section 1.
func CanCall(p *Principal, scope Scope) error {
	if p.IsAdminKey() {
		return fault.New(fault.Forbidden, "an Admin key cannot send model traffic; use a workspace key")
	}
	return p.checkScope(scope)
}

// checkScope refuses a key or token that does not hold a scope. A session holds none: its
// rights follow from its roles alone.
func (p *Principal) checkScope(s Scope) error {
	if p.Kind == BySession || p.Scopes.Has(s) {
		return nil
	}
	return fault.Newf(fault.Forbidden, "the API key lacks the %s scope", s).WithParam("scopes")
}

// RoleAt is what the user of a session or user key is in a workspace; empty for keys
// that belong to nobody, for strangers, and for owners and admins of the organisation,
// who are bound by no role there.
func (p *Principal) RoleAt(workspaceID string) Role {
	if !p.isUserBound() || p.isOrgAdmin() {
		return ""
	}
	return p.Memberships[workspaceID].Role
}

// BelongsTo reports whether the caller has any business in a workspace of their
// organisation: people where they are members, owners and admins of the organisation
// and keys that belong to nobody everywhere that their key lets them.
func (p *Principal) BelongsTo(workspaceID string) bool {
	if p.WorkspaceID != "" && p.WorkspaceID != workspaceID {
		return false
	}
	_, isMember := p.Memberships[workspaceID]
	return isMember || !p.isUserBound() || p.isOrgAdmin()
}

// Actor is the id that trails and records name: of the user of a session, else of the
// key.
func (p *Principal) Actor() string {
	if p.Kind == BySession {
		return p.UserID
	}
	return p.ID
}

// Allowed lists the scopes that a session may use in a workspace, in order.
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
