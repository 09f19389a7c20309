package access

import (
	"maps"
	"slices"
	"strconv"
)

// SecuritySetting is one of the security settings by which an organisation, or a workspace
// where it may differ, opens or closes something to a role, for example
// "membersViewConfigs". Owners and organisation admins are bound by the two that name
// them alone, and workspace admins by none.
// Source: contract/identity-and-governance.yaml, SecuritySettings; .md section 3.
type SecuritySetting struct {
	Name    string // on the wire: "managersWritePrompts"
	Section string // the part of the settings that is opened to workspaces as a whole: "prompts"
	Usual   bool   // while nobody has set it
}

// Switches is the set of toggles that are on at one place. The zero value has none.
type Switches uint64

// has reports whether a toggle is on. The empty name is no toggle, and on.
func (s Switches) has(name string) bool {
	if name == "" {
		return true
	}
	i, ok := toggleAt[name]
	return ok && s&(1<<i) != 0
}

// Toggles are all of them, in the order of the published list.
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

// SectionOf is the section of a toggle; empty when there is no such toggle.
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

// Security is what an organisation or a workspace set of the toggles, by name. A
// toggle that is absent was not set.
type Security map[string]bool

// Overrides are the sections in which workspaces may differ from their organisation,
// for example {"prompts": true}.
type Overrides map[string]bool

// Effective says what is on in a workspace: its own value where its section is open to
// workspaces, else that of the organisation, else the usual one. With a nil workspace
// it is what is on in the organisation.
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

// Map shows every toggle with whether it is on.
func (s Switches) Map() map[string]bool {
	m := make(map[string]bool, len(toggles))
	for i, t := range toggles {
		m[t.Name] = s&(1<<i) != 0
	}
	return m
}

// JSON is Map as a JSON object, the names in order.
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
