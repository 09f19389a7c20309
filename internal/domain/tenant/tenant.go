// Package tenant contains the stored bodies of organisations, workspaces, users, memberships
// and invitations, and the settings of organisations and workspaces. Start with Organisation
// and Workspace. Scope is the form that requests use.
package tenant

import (
	"encoding/json"

	"sluice/internal/kernel/access"
)

// The kinds of the stored records.
const (
	OrganisationKind = "organisation"
	WorkspaceKind    = "workspace"
	UserKind         = "user"
	MemberKind       = "workspace_member"
	InviteKind       = "invite"
)

// Organisation is the stored body of an organisation.
// Source: contract/identity-and-governance.yaml, Organisation.
type Organisation struct {
	Name      string           `json:"name"`
	Settings  Settings         `json:"settings"`
	Security  access.Security  `json:"security_settings,omitempty"`
	Open      access.Overrides `json:"workspace_overrides,omitempty"`
	DataPlane DataPlane        `json:"data_plane_security_settings"`
	Exports   Exports          `json:"export_settings"`
	Defaults  OrgDefaults      `json:"defaults"`
	Schemas   Schemas          `json:"properties"`
	Exempt    Exempt           `json:"exempt"`
	Used      bool             `json:"is_first_generation_done,omitempty"` // a model has already responded
}

// DataPlane lists what requests may contain.
type DataPlane struct {
	BlockInlineConfig bool `json:"block_inline_config,omitempty"`
	// AllowUnreadableContent lets calls pass whose text a default guardrail with deny: true cannot
	// read: pass-through bodies of unknown formats, and audio. (ours)
	AllowUnreadableContent bool `json:"allow_unreadable_content,omitempty"`
}

// Exports lists the fields that log exports omit, by name.
type Exports struct {
	DeniedFields []string `json:"deniedFields,omitempty"`
}

// OrgDefaults apply to every workspace. They name guardrails by slug or id.
type OrgDefaults struct {
	InputGuardrails  []string `json:"input_guardrails,omitempty"`
	OutputGuardrails []string `json:"output_guardrails,omitempty"`
	DefaultWorkspace string   `json:"default_workspace,omitempty"` // slug
}

// Exempt lists the workspaces, by id, in which the guardrails of the organisation do not run.
type Exempt struct {
	Input  []string `json:"input,omitempty"`
	Output []string `json:"output,omitempty"`
}

// Workspace is the stored body of a workspace.
// Source: contract/identity-and-governance.yaml, Workspace.
type Workspace struct {
	Name        string          `json:"name"`
	Icon        string          `json:"icon,omitempty"` // an emoji
	Description string          `json:"description,omitempty"`
	IsDefault   bool            `json:"is_default,omitempty"`
	Defaults    Defaults        `json:"defaults"`
	Security    access.Security `json:"security_settings,omitempty"`
	Settings    Settings        `json:"settings"`
	CreatedBy   string          `json:"created_by,omitempty"`      // user or key
	Source      string          `json:"creation_source,omitempty"` // default, api, ui or scim
	ScimSource  string          `json:"scim_source_id,omitempty"`
	UsageLimits json.RawMessage `json:"usage_limits,omitempty"` // list of quota.Budget
	RateLimits  json.RawMessage `json:"rate_limits,omitempty"`  // list of quota.Rate
}

// Defaults apply to every request of the workspace.
type Defaults struct {
	Metadata         map[string]string `json:"metadata,omitempty"`
	ConfigID         string            `json:"config_id,omitempty"`
	UserAPIKeyConfig string            `json:"user_api_key_config,omitempty"` // config of user keys that do not have one
	InputGuardrails  []string          `json:"input_guardrails,omitempty"`    // slugs or ids
	OutputGuardrails []string          `json:"output_guardrails,omitempty"`
}

// User is the stored body of a user. Email is unique and lower case. A removed user is
// archived, and becomes active again with a new invitation.
type User struct {
	Email     string      `json:"email"`
	FirstName string      `json:"first_name,omitempty"`
	LastName  string      `json:"last_name,omitempty"`
	Role      access.Role `json:"role"` // owner, admin or member of the organisation
}

// Member is the stored body of a membership: the role of a user in the workspace that contains
// the record.
type Member struct {
	UserID string      `json:"user_id"`
	Role   access.Role `json:"role"` // admin, manager or member
}
