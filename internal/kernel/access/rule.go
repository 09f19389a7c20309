package access

import "strings"

// rule states which actions of a resource users may do, by role. Owners and admins of the
// organisation may do everything. A workspace admin may do everything that is not reserved for
// the organisation. The columns manager and member state the rights of these roles.
type rule struct {
	resource  string
	actions   string // actions in the scope table; empty: all that no earlier line names
	manager   string // never, always, or the toggle that allows managers the action
	member    string
	ruleScope ruleScope
}

// ruleScope states where a rule applies.
type ruleScope int

const (
	inWorkspace ruleScope = iota // in the workspaces of a user
	anywhere                     // also outside workspaces, for every member of the organisation
	orgOnly                      // only for owners and admins of the organisation
)

const (
	never  = "-"
	always = ""
)

const viewing = "read list view"

// rules is the only table of the rights of users. Conditions on a record (which user has the
// key or the data) are in the package of the record.
// Source: contract/identity-and-governance.md section 2.
var rules = []rule{
	{"organisation_users", "", never, never, orgOnly},
	{"organisation_service_api_keys", "", never, never, orgOnly},
	{"audit_logs", "", never, never, orgOnly},
	{"plugins", "", never, never, orgOnly},
	{"deployments", "", never, never, orgOnly},
	{"secret_references", "", never, never, orgOnly},
	{"scim_workspaces", "", never, never, orgOnly},
	{"organisation_settings", "", never, never, orgOnly},
	{"organisation_guardrails", "", never, never, orgOnly},
	{"organisation_exclusions", "", never, never, orgOnly},
	{"organisation_integrations", "list", always, always, inWorkspace},
	{"organisation_integrations", "", never, never, orgOnly},
	{"organisation_mcp_integrations", "list", always, always, inWorkspace},
	{"organisation_mcp_integrations", "", never, never, orgOnly},
	{"organisation_agent_integrations", "list", always, always, inWorkspace},
	{"organisation_agent_integrations", "", never, never, orgOnly},
	{"workspaces", "create delete", never, never, orgOnly},
	{"workspaces", "list", always, always, anywhere},
	{"workspaces", "read", always, always, inWorkspace},
	{"workspaces", "update", "managersUpdateWs", never, inWorkspace},
	{"workspace_users", viewing, always, always, inWorkspace},
	{"workspace_users", "", "managersWriteWsUsers", never, inWorkspace},
	{"workspace_service_api_keys", viewing, "managersViewApiKeys", never, inWorkspace},
	{"workspace_service_api_keys", "", "managersWriteApiKeys", never, inWorkspace},
	{"workspace_user_api_keys", viewing, "managersViewApiKeys", "membersViewApiKeys", inWorkspace},
	{"workspace_user_api_keys", "", "managersWriteApiKeys", "membersWriteApiKeys", inWorkspace},
	{"prompts", viewing + " render", "managersViewPrompts", "membersViewPrompts", inWorkspace},
	{"prompts", "", "managersWritePrompts", "membersWritePrompts", inWorkspace},
	{"configs", viewing, "managersViewConfigs", "membersViewConfigs", inWorkspace},
	{"configs", "", "managersWriteConfigs", "membersWriteConfigs", inWorkspace},
	{"guardrails", viewing + " invoke", "managersViewGuardrails", "membersViewGuardrails", inWorkspace},
	{"guardrails", "", "managersWriteGuardrails", "membersWriteGuardrails", inWorkspace},
	{"virtual_keys", viewing, "managersViewVirtualKeys", "membersViewVirtualKeys", inWorkspace},
	{"virtual_keys", "", "managersWriteVirtualKeys", "membersWriteVirtualKeys", inWorkspace},
	{"providers", viewing, "managersViewVirtualKeys", "membersViewVirtualKeys", inWorkspace},
	{"providers", "", "managersWriteVirtualKeys", "membersWriteVirtualKeys", inWorkspace},
	{"policies", viewing, always, always, inWorkspace},
	{"policies", "", always, never, inWorkspace},
	{"cache", "", always, never, inWorkspace},
	{"workspace_integrations", viewing, always, always, inWorkspace},
	{"workspace_integrations", "", "managersWriteWsIntegrations", never, inWorkspace},
	{"workspace_mcp_integrations", viewing, always, always, inWorkspace},
	{"workspace_mcp_integrations", "", "managersWriteWsMcpIntegrations", never, inWorkspace},
	{"workspace_agent_integrations", viewing, always, always, inWorkspace},
	{"workspace_agent_integrations", "", "managersWriteWsMcpIntegrations", never, inWorkspace},
	{"mcp_servers", viewing, always, always, inWorkspace},
	{"mcp_servers", "", "managersWriteMcpServers", never, inWorkspace},
	{"agent_servers", viewing, always, always, inWorkspace},
	{"agent_servers", "", "managersWriteMcpServers", never, inWorkspace},
	{"agent_integration_skills", viewing, always, always, inWorkspace},
	{"agent_integration_skills", "", "managersWriteWsMcpIntegrations", never, inWorkspace},
	{"agent_server_skills", viewing, always, always, inWorkspace},
	{"agent_server_skills", "", "managersWriteMcpServers", never, inWorkspace},
	{"agent_server_user_access", viewing, always, always, inWorkspace},
	{"agent_server_user_access", "", "managersWriteMcpServers", never, inWorkspace},
	{"analytics", "", "managersViewAnalytics", "membersViewAnalytics", inWorkspace},
	{"logs", "view export", "managersViewLogs", "membersViewLogs", inWorkspace},
	{"logs", "list", "managersViewLogMetadata", "membersViewLogMetadata", inWorkspace},
	{"logs", "", always, always, inWorkspace},
	{"completions", "", always, always, inWorkspace},
	{"models", "", always, always, inWorkspace},
	{"feedbacks", "", always, always, inWorkspace},
	{"mcp", "", always, always, inWorkspace},
	{"agents", "", always, always, inWorkspace},
}

// ruleOf returns the rule of a scope. Without a rule it returns the zero rule, which permits
// nothing.
func ruleOf(s Scope) rule {
	r, ok := ruleByScope[s]
	if !ok {
		return rule{manager: never, member: never, ruleScope: orgOnly}
	}
	return r
}

var ruleByScope = func() map[Scope]rule {
	m := make(map[Scope]rule)
	for _, h := range holders {
		for action := range strings.FieldsSeq(h.actions) {
			if r, ok := firstRule(h.resource, action); ok {
				m[Scope(h.resource+"."+action)] = r
			}
		}
	}
	return m
}()

// firstRule returns the first rule for an action of a resource.
func firstRule(resource, action string) (rule, bool) {
	for _, r := range rules {
		if r.resource != resource {
			continue
		}
		for a := range strings.FieldsSeq(r.actions) {
			if a == action {
				return r, true
			}
		}
		if r.actions == "" {
			return r, true
		}
	}
	return rule{}, false
}

// adminToggles are the toggles that limit the admins of the organisation, but not its owners.
var adminToggles = map[Scope]string{
	"logs.view": "organisationAdminsViewLogs", "logs.export": "organisationAdminsViewLogs", "logs.list": "organisationAdminsViewLogMetadata",
}

// opens reports whether the rule permits the action to a member with the given role and
// toggles.
func (r rule) opens(p Membership) bool {
	toggle, is := map[Role]string{Manager: r.manager, Member: r.member}[p.Role]
	return p.Role == Admin && r.ruleScope != orgOnly || is && toggle != never && p.Switches.has(toggle)
}
