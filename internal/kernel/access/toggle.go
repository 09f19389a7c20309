package access

import (
	"maps"
	"slices"
	"strconv"
)

// SecuritySetting is a security setting with which an organisation, or a workspace where it may
// differ, permits or refuses something to a role, for example "membersViewConfigs". Only two
// settings limit owners and admins of the organisation: those that name them. No setting limits
// workspace admins.
// Source: contract/identity-and-governance.yaml, SecuritySettings; .md section 3.
type SecuritySetting struct {
	Name    string // wire name: "managersWritePrompts"
	Section string // section of the settings that workspaces may override as a unit: "prompts"
	Usual   bool   // default value
}

// Switches is the set of toggles that are on in an organisation or a workspace. The zero value
// is the empty set.
type Switches uint64

// has reports whether a toggle is on. The empty name is not a toggle and is always on.
func (s Switches) has(name string) bool {
	if name == "" {
		return true
	}
	i, ok := toggleAt[name]
	return ok && s&(1<<i) != 0
}

// Toggles returns all toggles in the order of the published list.
func Toggles() []SecuritySetting { return toggles[:] }

var toggles = [...]SecuritySetting{
	{"managersWriteWsIntegrations", "integrations", true},
	{"managersWriteWsMcpIntegrations", "mcp_integrations", true},
	{"managersWriteMcpServers", "mcp_servers", true},
	{"membersViewAllData", "data_visibility", true},
	{"managersViewAllData", "data_visibility", true},
	{"membersViewAnalytics", "analytics", true},
	{"managersViewAnalytics", "analytics", true},
	{"membersViewPrompts", "prompts", true},
	{"membersWritePrompts", "prompts", false},
	{"managersViewPrompts", "prompts", true},
	{"managersWritePrompts", "prompts", true},
	{"membersViewConfigs", "configs", true},
	{"membersWriteConfigs", "configs", false},
	{"managersViewConfigs", "configs", true},
	{"managersWriteConfigs", "configs", true},
	{"membersViewGuardrails", "guardrails", true},
	{"membersWriteGuardrails", "guardrails", false},
	{"managersViewGuardrails", "guardrails", true},
	{"managersWriteGuardrails", "guardrails", true},
	{"membersViewVirtualKeys", "virtual_keys", true},
	{"membersWriteVirtualKeys", "virtual_keys", false},
	{"managersViewVirtualKeys", "virtual_keys", true},
	{"managersWriteVirtualKeys", "virtual_keys", true},
	{"membersViewApiKeys", "api_keys", true},
	{"membersWriteApiKeys", "api_keys", true},
	{"managersViewApiKeys", "api_keys", true},
	{"managersWriteApiKeys", "api_keys", true},
	{"membersViewLogs", "logs", true},
	{"membersViewLogMetadata", "logs", true},
	{"managersViewLogs", "logs", true},
	{"managersViewLogMetadata", "logs", true},
	{"organisationAdminsViewLogs", "logs", true},
	{"organisationAdminsViewLogMetadata", "logs", true},
	{"managersUpdateWs", "workspace_management", true},
	{"managersWriteWsUsers", "workspace_management", true},
}

// SectionOf returns the section of a toggle, or "" when the toggle does not exist.
func SectionOf(name string) string {
	i, ok := toggleAt[name]
	if !ok {
		return ""
	}
	return toggles[i].Section
}

var toggleAt = func() map[string]int {
	m := make(map[string]int, len(toggles))
	for i, t := range toggles {
		m[t.Name] = i
	}
	return m
}()

// Security contains the toggles that an organisation or a workspace has set, by name. An absent
// toggle is not set.
type Security map[string]bool

// Overrides are the sections in which workspaces may differ from their organisation, for
// example {"prompts": true}.
type Overrides map[string]bool

// Effective returns the toggles that are on in a workspace. The workspace's value applies where
// its section is open to workspaces, then that of the organisation, then the default. With a
// nil workspace it returns the toggles that are on in the organisation.
func Effective(organisation Security, open Overrides, workspace Security) Switches {
	var s Switches
	for i, t := range toggles {
		enabled := t.Usual
		if v, set := organisation[t.Name]; set {
			enabled = v
		}
		if v, set := workspace[t.Name]; set && open[t.Section] {
			enabled = v
		}
		if enabled {
			s |= 1 << i
		}
	}
	return s
}

// Map returns every toggle with its value.
func (s Switches) Map() map[string]bool {
	m := make(map[string]bool, len(toggles))
	for i, t := range toggles {
		m[t.Name] = s&(1<<i) != 0
	}
	return m
}

// JSON returns Map as a JSON object with sorted names.
func (s Switches) JSON() []byte {
	b := make([]byte, 0, 40*len(toggles))
	for _, name := range toggleNames {
		b = append(append(append(b, ',', '"'), name...), '"', ':')
		b = strconv.AppendBool(b, s&(1<<toggleAt[name]) != 0)
	}
	b[0] = '{'
	return append(b, '}')
}

var toggleNames = slices.Sorted(maps.Keys(toggleAt))
