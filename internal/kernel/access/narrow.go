package access

// dataScopes are the scopes that open traffic records. Some users see only their own records.
var dataScopes = NewScopes(string(LogsList), string(LogsView), string(LogsExport), "analytics.view", "policies.create")

// partScopes are the scopes that managers may use only in part: managers do not create or
// change a workspace admin, or a setting that restricts managers.
// Source: contract/identity-and-governance.md section 2.
var partScopes = NewScopes("workspace_users.create", "workspace_users.update", "workspace_users.delete", "workspaces.update")

// HasPartialScope reports whether a user may use a scope in a workspace only in part. A key
// without a user, or of a user with more rights, could do more with the scope.
func (p *Principal) HasPartialScope(s Scope, workspaceID string) bool {
	role := p.RoleAt(workspaceID)
	return role != "" && role != Admin && partScopes.Has(s) || dataScopes.Has(s) && p.IsLimitedToUserData(workspaceID)
}
