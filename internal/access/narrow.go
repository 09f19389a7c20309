package access

// dataScopes open records of traffic, of which some people see only their own.
var dataScopes = NewScopes(string(LogsList), string(LogsView), string(LogsExport), "analytics.view", "policies.create")

// partScopes are used by managers in part: they make and change no admin of the
// workspace, and no setting that binds them.
// Source: contract/identity-and-governance.md section 2.
var partScopes = NewScopes("workspace_users.create", "workspace_users.update", "workspace_users.delete", "workspaces.update")

// HasPartialScope reports whether a person may use a scope in a workspace, but not all of it:
// a key that belongs to nobody, or to somebody who is more, would do more with it.
func (p *Principal) HasPartialScope(s Scope, workspaceID string) bool {
	role := p.RoleAt(workspaceID)
	return role != "" && role != Admin && partScopes.Has(s) || dataScopes.Has(s) && p.IsLimitedToUserData(workspaceID)
}
