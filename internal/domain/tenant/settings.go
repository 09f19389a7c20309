package tenant

import (
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// Settings are the settings of an organisation for its workspaces, or of a workspace where it
// may differ. A nil value is not set. The value of the organisation then applies, and after it
// the default.
// Source: contract/identity-and-governance.yaml, WorkspaceSettings and
// OrganisationSettings.
type Settings struct {
	DebugLog            *int  `json:"debug_log,omitempty"`                    // 1 records complete requests, 0 metrics only
	KeyCount            *int  `json:"user_api_key_count,omitempty"`           // maximum number of user keys of a user in a workspace; -1 no limit
	KeyTTL              *int  `json:"user_api_key_ttl,omitempty"`             // default lifetime of a new user key in seconds; 0 none
	KeyMaxTTL           *int  `json:"user_api_key_max_ttl,omitempty"`         // maximum lifetime of a user key in seconds; 0 none
	KeyRotationDays     *int  `json:"user_api_key_rotation_period,omitempty"` // enforced rotation period in days; 0 none
	KeyAutoCreate       *bool `json:"user_api_key_auto_create,omitempty"`     // a key is created when a member joins
	KeyMetadata         *int  `json:"user_key_metadata,omitempty"`            // 1 attributes requests of a user key to its user
	KeyMetadataOverride *int  `json:"user_key_metadata_override,omitempty"`   // 1 permits a request to name another user

	LogRetention Retention `json:"log_retention,omitzero"` // shorter than the deployment's

	// Only for organisations.
	GatewayURL           string `json:"dashboard_gateway_url,omitempty"`
	MCPGatewayURL        string `json:"dashboard_mcp_gateway_url,omitempty"`
	DefaultKeyAutoCreate *bool  `json:"default_workspace_user_api_key_auto_create,omitempty"`
	CacheTTL             *int   `json:"default_cache_ttl,omitempty"`  // seconds, see CheckCacheTTL; 0 none
	DebugLogEnforced     *int   `json:"debug_log_enforced,omitempty"` // 1: requests may not override debug_log
}

// The sections in which workspaces may differ, in addition to those of the toggles.
const (
	SectionLogging  = "request_logging"
	SectionUserKeys = "user_api_keys"
	sectionInline   = "data_plane_security_settings"
	sectionExports  = "export_settings"
)

// Sections returns all sections that an organisation may open, sorted.
func Sections() []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range access.Toggles() {
		if !seen[t.Section] {
			seen[t.Section] = true
			out = append(out, t.Section)
		}
	}
	return append(out, SectionLogging, SectionUserKeys, sectionInline, sectionExports)
}

// usual contains the default values.
var usual = Settings{
	DebugLog: pointer(1), KeyCount: pointer(-1), KeyTTL: pointer(0), KeyMaxTTL: pointer(0), KeyRotationDays: pointer(0), KeyAutoCreate: pointer(false),
	KeyMetadata: pointer(1), KeyMetadataOverride: pointer(1), DefaultKeyAutoCreate: pointer(false), CacheTTL: pointer(0), DebugLogEnforced: pointer(0),
}

func pointer[T any](v T) *T { return &v }

// InForce returns the settings of the organisation without nil values.
func (o *Organisation) InForce() Settings { return applyDefaults(o.Settings, usual) }

// SettingsOf returns the settings that apply in a workspace of the organisation. No value is
// nil.
func (o *Organisation) SettingsOf(w *Workspace) Settings {
	settings := w.Settings
	if !o.Open[SectionLogging] {
		settings.DebugLog, settings.LogRetention = nil, Retention{}
	}
	if !o.Open[SectionUserKeys] {
		settings.KeyCount, settings.KeyTTL, settings.KeyMaxTTL, settings.KeyRotationDays = nil, nil, nil, nil
	}
	s := applyDefaults(settings, o.InForce())
	if w.IsDefault && *s.DefaultKeyAutoCreate {
		s.KeyAutoCreate = s.DefaultKeyAutoCreate
	}
	return s
}

// applyDefaults replaces the unset values of s with those of defaults.
func applyDefaults(s, defaults Settings) Settings {
	fill(&s.DebugLog, defaults.DebugLog)
	s.LogRetention = s.LogRetention.withDefaults(defaults.LogRetention)
	fill(&s.KeyCount, defaults.KeyCount)
	fill(&s.KeyTTL, defaults.KeyTTL)
	fill(&s.KeyMaxTTL, defaults.KeyMaxTTL)
	fill(&s.KeyRotationDays, defaults.KeyRotationDays)
	fill(&s.KeyAutoCreate, defaults.KeyAutoCreate)
	fill(&s.KeyMetadata, defaults.KeyMetadata)
	fill(&s.KeyMetadataOverride, defaults.KeyMetadataOverride)
	fill(&s.DefaultKeyAutoCreate, defaults.DefaultKeyAutoCreate)
	fill(&s.CacheTTL, defaults.CacheTTL)
	fill(&s.DebugLogEnforced, defaults.DebugLogEnforced)
	return s
}

func fill[T any](field **T, value *T) {
	if *field == nil {
		*field = value
	}
}

// Validate checks that the default lifetime of a key does not exceed the maximum. The error is
// fault.InvalidParameter at the field.
func (s Settings) Validate() error {
	if s.KeyTTL == nil || s.KeyMaxTTL == nil || *s.KeyMaxTTL == 0 || *s.KeyTTL <= *s.KeyMaxTTL {
		return nil
	}
	return fault.New(fault.InvalidParameter, "must not be less than the default lifetime of a user key").WithParam("settings.user_api_key_max_ttl")
}

// These limit the lifetime of cached responses, in seconds. Source: contract/dataplane.md 4.7.
const (
	minCacheTTL = 60
	maxCacheTTL = 25_923_000
)

// CheckCacheTTL checks the default and maximum lifetime of cached responses in seconds; 0 is no limit.
// The error is fault.InvalidParameter at the field.
func CheckCacheTTL(ttl int) error {
	if ttl == 0 || ttl >= minCacheTTL && ttl <= maxCacheTTL {
		return nil
	}
	return fault.Newf(fault.InvalidParameter, "must be 0, or between %d and %d", minCacheTTL, maxCacheTTL).WithParam("settings.default_cache_ttl")
}

// Section returns the section of a workspace setting, or "" for a setting that every workspace
// may set.
func Section(setting string) string {
	switch setting {
	case "debug_log", "log_retention":
		return SectionLogging
	case "user_api_key_count", "user_api_key_ttl", "user_api_key_max_ttl", "user_api_key_rotation_period":
		return SectionUserKeys
	}
	return ""
}

// SecurityOf returns the toggles that apply in a workspace. With nil it returns those of the
// organisation.
func (o *Organisation) SecurityOf(w *Workspace) access.Switches {
	if w == nil {
		return access.Effective(o.Security, nil, nil)
	}
	return access.Effective(o.Security, o.Open, w.Security)
}

// ApplyUserRights sets the rights of a user in a principal: the role in the organisation, and
// the memberships with their workspaces.
func (o *Organisation) ApplyUserRights(p *access.Principal, u *User, memberships map[string]Membership) {
	p.OrgRole, p.Switches = u.Role, o.SecurityOf(nil)
	p.Memberships = make(map[string]access.Membership, len(memberships))
	for id, m := range memberships {
		p.Memberships[id] = access.Membership{Role: m.Role, Switches: o.SecurityOf(m.Workspace)}
	}
}

// Membership is a role with the workspace in which it applies.
type Membership struct {
	Role      access.Role
	Workspace *Workspace
}
