package tenant

import (
	"sluice/internal/access"
	"sluice/internal/fault"
)

// Settings are what an organisation sets for its workspaces, and a workspace for
// itself where it may differ. What is nil was not set, and falls back to the
// organisation, then to the usual value.
// Source: contract/identity-and-governance.yaml, WorkspaceSettings and
// OrganisationSettings.
type Settings struct {
	DebugLog            *int  `json:"debug_log,omitempty"`                    // 1 records whole requests, 0 metrics only
	KeyCount            *int  `json:"user_api_key_count,omitempty"`           // most user keys of a user in a workspace; -1 no limit
	KeyTTL              *int  `json:"user_api_key_ttl,omitempty"`             // usual life of a new user key in seconds; 0 none
	KeyMaxTTL           *int  `json:"user_api_key_max_ttl,omitempty"`         // longest life of one in seconds; 0 none
	KeyRotationDays     *int  `json:"user_api_key_rotation_period,omitempty"` // enforced cadence; 0 none
	KeyAutoCreate       *bool `json:"user_api_key_auto_create,omitempty"`     // a key is made when a member joins
	KeyMetadata         *int  `json:"user_key_metadata,omitempty"`            // 1 attributes requests of a user key to its user
	KeyMetadataOverride *int  `json:"user_key_metadata_override,omitempty"`   // 1 lets a request name another one

	LogRetention Retention `json:"log_retention,omitzero"` // shorter than the deployment's

	// Of organisations alone.
	GatewayURL           string `json:"dashboard_gateway_url,omitempty"`
	MCPGatewayURL        string `json:"dashboard_mcp_gateway_url,omitempty"`
	DefaultKeyAutoCreate *bool  `json:"default_workspace_user_api_key_auto_create,omitempty"`
	CacheTTL             *int   `json:"default_cache_ttl,omitempty"`  // seconds
	DebugLogEnforced     *int   `json:"debug_log_enforced,omitempty"` // 1: no request differs from debug_log
}

// The sections in which workspaces may differ, beyond those of the toggles.
const (
	SectionLogging  = "request_logging"
	SectionUserKeys = "user_api_keys"
	sectionInline   = "data_plane_security_settings"
	sectionExports  = "export_settings"
)

// Sections are all sections that an organisation may open, in order.
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

// usual are the values that nobody has to set.
var usual = Settings{
	DebugLog: pointer(1), KeyCount: pointer(-1), KeyTTL: pointer(0), KeyMaxTTL: pointer(0), KeyRotationDays: pointer(0), KeyAutoCreate: pointer(false),
	KeyMetadata: pointer(1), KeyMetadataOverride: pointer(1), DefaultKeyAutoCreate: pointer(false), CacheTTL: pointer(0), DebugLogEnforced: pointer(0),
}

func pointer[T any](v T) *T { return &v }

// InForce are the settings of the organisation with nothing nil.
func (o *Organisation) InForce() Settings { return applyDefaults(o.Settings, usual) }

// SettingsOf are the settings in force in a workspace of the organisation. Nothing in
// them is nil.
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

// applyDefaults fills what s leaves open from below.
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

// Validate checks what belongs together: the usual life of a key must fit into the
// longest one. fault.InvalidParameter at the field.
func (s Settings) Validate() error {
	if s.KeyTTL == nil || s.KeyMaxTTL == nil || *s.KeyMaxTTL == 0 || *s.KeyTTL <= *s.KeyMaxTTL {
		return nil
	}
	return fault.New(fault.InvalidParameter, "must not be less than the default lifetime of a user key").WithParam("settings.user_api_key_max_ttl")
}

// Section is the section to which a setting of a workspace belongs; "" for one that
// every workspace may set.
func Section(setting string) string {
	switch setting {
	case "debug_log", "log_retention":
		return SectionLogging
	case "user_api_key_count", "user_api_key_ttl", "user_api_key_max_ttl", "user_api_key_rotation_period":
		return SectionUserKeys
	}
	return ""
}

// SecurityOf are the toggles in force in a workspace; with nil, in the organisation.
func (o *Organisation) SecurityOf(w *Workspace) access.Switches {
	if w == nil {
		return access.Effective(o.Security, nil, nil)
	}
	return access.Effective(o.Security, o.Open, w.Security)
}

// ApplyUserRights puts into a principal what the rights of its user follow from: the role in
// the organisation, and the places, which are the memberships with their workspaces.
func (o *Organisation) ApplyUserRights(p *access.Principal, u *User, memberships map[string]Membership) {
	p.OrgRole, p.Switches = u.Role, o.SecurityOf(nil)
	p.Memberships = make(map[string]access.Membership, len(memberships))
	for id, m := range memberships {
		p.Memberships[id] = access.Membership{Role: m.Role, Switches: o.SecurityOf(m.Workspace)}
	}
}

// Membership is a role together with the workspace in which it counts.
type Membership struct {
	Role      access.Role
	Workspace *Workspace
}
