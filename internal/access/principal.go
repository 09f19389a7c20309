// Package access says who a caller is and what they may do: principals, roles,
// key types and scopes, and the one function that decides.
package access

import "sluice/internal/fault"

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
	ID          string  // of the key or the user
	Name        string  // for people: the name of the key, the e-mail of the user
	KeyType     KeyType // of keys
	OrgID       string
	WorkspaceID string // the workspace that a workspace key is locked to
	UserID      string // of user keys and sessions
	OrgRole     Role   // of sessions
	Scopes      Scopes
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

// Target is what an action is about.
type Target struct {
	OrgID       string
	WorkspaceID string // empty for things of the organisation
}

// Can says whether p may use a permission on a target: the scope must be held, the
// organisation must be the caller's, and a workspace key stays in its workspace.
// A refusal is fault.Forbidden naming the scope; a target outside the caller's
// reach is fault.Forbidden without telling whether it exists.
func Can(p *Principal, scope Scope, t Target) error {
	if !p.holds(scope) {
		return fault.Newf(fault.Forbidden, "the API key has not the scope %s", scope).At("scopes")
	}
	if t.OrgID != "" && t.OrgID != p.OrgID {
		return fault.New(fault.Forbidden, "this is not in your organisation")
	}
	if p.WorkspaceID != "" && t.WorkspaceID != p.WorkspaceID {
		return fault.New(fault.Forbidden, "this is not in the workspace of the API key")
	}
	return nil
}

// CanCall says whether p may send model traffic with the scope. Admin keys may
// not, whatever their scopes. Source: contract/identity-and-governance.md section 1.
func CanCall(p *Principal, scope Scope) error {
	if p.IsAdminKey() {
		return fault.New(fault.Forbidden, "an Admin key cannot send model traffic; use a workspace key")
	}
	if !p.holds(scope) {
		return fault.Newf(fault.Forbidden, "the API key has not the scope %s", scope).At("scopes")
	}
	return nil
}

func (p *Principal) holds(s Scope) bool {
	if p.Kind == BySession && (p.OrgRole == Owner || p.OrgRole == Admin) {
		return true
	}
	return p.Scopes.Has(s)
}
