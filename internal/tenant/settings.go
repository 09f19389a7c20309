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
	DebugLog: at(1), KeyCount: at(-1), KeyTTL: at(0), KeyMaxTTL: at(0), KeyRotationDays: at(0), KeyAutoCreate: at(false),
	KeyMetadata: at(1), KeyMetadataOverride: at(1), DefaultKeyAutoCreate: at(false), CacheTTL: at(0), DebugLogEnforced: at(0),
}

func at[T any](v T) *T { return &v }

// InForce are the settings of the organisation with nothing nil.
func (o *Organisation) InForce() Settings { return over(o.Settings, usual) }

// SettingsOf are the settings in force in a workspace of the organisation. Nothing in
// them is nil.
func (o *Organisation) SettingsOf(w *Workspace) Settings {
	own := w.Settings
	if !o.Open[SectionLogging] {
		own.DebugLog, own.LogRetention = nil, Retention{}
	}
	if !o.Open[SectionUserKeys] {
		own.KeyCount, own.KeyTTL, own.KeyMaxTTL, own.KeyRotationDays = nil, nil, nil, nil
	}
	s := over(own, o.InForce())
	if w.IsDefault && *s.DefaultKeyAutoCreate {
		s.KeyAutoCreate = s.DefaultKeyAutoCreate
	}
	return s
}

// over fills what s leaves open from below.
func over(s, below Settings) Settings {
	fill(&s.DebugLog, below.DebugLog)
	s.LogRetention = s.LogRetention.over(below.LogRetention)
	fill(&s.KeyCount, below.KeyCount)
	fill(&s.KeyTTL, below.KeyTTL)
	fill(&s.KeyMaxTTL, below.KeyMaxTTL)
	fill(&s.KeyRotationDays, below.KeyRotationDays)
	fill(&s.KeyAutoCreate, below.KeyAutoCreate)
	fill(&s.KeyMetadata, below.KeyMetadata)
	fill(&s.KeyMetadataOverride, below.KeyMetadataOverride)
	fill(&s.DefaultKeyAutoCreate, below.DefaultKeyAutoCreate)
	fill(&s.CacheTTL, below.CacheTTL)
	fill(&s.DebugLogEnforced, below.DebugLogEnforced)
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
	return fault.New(fault.InvalidParameter, "the longest life of a user key is shorter than the usual one").WithParam("settings.user_api_key_max_ttl")
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

// Standing puts into a principal what the rights of its user follow from: the role in
// the organisation, and the places, which are the memberships with their workspaces.
func (o *Organisation) Standing(p *access.Principal, u *User, places map[string]Membership) {
	p.OrgRole, p.On = u.Role, o.SecurityOf(nil)
	p.Places = make(map[string]access.Membership, len(places))
	for id, m := range places {
		p.Places[id] = access.Membership{Role: m.Role, On: o.SecurityOf(m.Workspace)}
	}
}

// Membership is a role together with the workspace in which it counts.
type Membership struct {
	Role      access.Role
	Workspace *Workspace
}
