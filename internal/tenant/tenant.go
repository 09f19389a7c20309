// Package tenant holds the people and places that own everything else:
// organisations, workspaces and users.
package tenant

// The kinds of the stored records.
const (
	OrganisationKind = "organisation"
	WorkspaceKind    = "workspace"
	UserKind         = "user"
)

// Organisation is the stored body of an organisation.
type Organisation struct {
	Name string `json:"name"`
}

// Workspace is the stored body of a workspace.
// Source: contract/identity-and-governance.yaml, Workspace.
type Workspace struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	IsDefault   bool     `json:"is_default,omitempty"`
	Defaults    Defaults `json:"defaults"`
}

// Defaults apply to every request of the workspace.
type Defaults struct {
	Metadata         map[string]string `json:"metadata,omitempty"`
	ConfigID         string            `json:"config_id,omitempty"`
	UserAPIKeyConfig string            `json:"user_api_key_config,omitempty"` // for user keys without a config of their own
}

// User is the stored body of a user. Email is unique and lower case.
type User struct {
	Email     string `json:"email"`
	FirstName string `json:"first_name,omitempty"`
	LastName  string `json:"last_name,omitempty"`
	Role      string `json:"role"` // owner, admin or member of the organisation
}
