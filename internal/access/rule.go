package access

import "strings"

// rule says what people may do with the actions of a resource, by what they are.
// Owners and admins of the organisation may do everything; a workspace admin what is
// not left to the organisation; managers and members what stands in their columns.
type rule struct {
	resource  string
	actions   string // of the scope table; empty means all that no line above names
	manager   string // never, always, or the toggle that opens it to managers
	member    string
	ruleScope ruleScope
}

// ruleScope is how far a rule goes.
type ruleScope int

const (
	inPlace  ruleScope = iota // in the workspaces of a person
	anywhere                  // also outside of them, for every member of the organisation
	orgOnly                   // owners and admins of the organisation, and nobody else
)

const (
	never  = "-"
	always = ""
)

const viewing = "read list view"

// rules is the one table from which the rights of people follow. What is true of a
// record besides (whose key it is, whose data) stands with its kind.
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
	{"organisation_integrations", "list", always, always, inPlace},
	{"organisation_integrations", "", never, never, orgOnly},
	{"organisation_mcp_integrations", "list", always, always, inPlace},
	{"organisation_mcp_integrations", "", never, never, orgOnly},
	{"organisation_agent_integrations", "list", always, always, inPlace},
	{"organisation_agent_integrations", "", never, never, orgOnly},
	{"workspaces", "create delete", never, never, orgOnly},
	{"workspaces", "list", always, always, anywhere},
	{"workspaces", "read", always, always, inPlace},
	{"workspaces", "update", "managersUpdateWs", never, inPlace},
	{"workspace_users", viewing, always, always, inPlace},
	{"workspace_users", "", "managersWriteWsUsers", never, inPlace},
	{"workspace_service_api_keys", viewing, "managersViewApiKeys", never, inPlace},
	{"workspace_service_api_keys", "", "managersWriteApiKeys", never, inPlace},
	{"workspace_user_api_keys", viewing, "managersViewApiKeys", "membersViewApiKeys", inPlace},
	{"workspace_user_api_keys", "", "managersWriteApiKeys", "membersWriteApiKeys", inPlace},
	{"prompts", viewing + " render", "managersViewPrompts", "membersViewPrompts", inPlace},
	{"prompts", "", "managersWritePrompts", "membersWritePrompts", inPlace},
	{"configs", viewing, "managersViewConfigs", "membersViewConfigs", inPlace},
	{"configs", "", "managersWriteConfigs", "membersWriteConfigs", inPlace},
	{"guardrails", viewing + " invoke", "managersViewGuardrails", "membersViewGuardrails", inPlace},
	{"guardrails", "", "managersWriteGuardrails", "membersWriteGuardrails", inPlace},
	{"virtual_keys", viewing, "managersViewVirtualKeys", "membersViewVirtualKeys", inPlace},
	{"virtual_keys", "", "managersWriteVirtualKeys", "membersWriteVirtualKeys", inPlace},
	{"providers", viewing, "managersViewVirtualKeys", "membersViewVirtualKeys", inPlace},
	{"providers", "", "managersWriteVirtualKeys", "membersWriteVirtualKeys", inPlace},
	{"policies", viewing, always, always, inPlace},
	{"policies", "", always, never, inPlace},
	{"workspace_integrations", viewing, always, always, inPlace},
	{"workspace_integrations", "", "managersWriteWsIntegrations", never, inPlace},
	{"workspace_mcp_integrations", viewing, always, always, inPlace},
	{"workspace_mcp_integrations", "", "managersWriteWsMcpIntegrations", never, inPlace},
	{"workspace_agent_integrations", viewing, always, always, inPlace},
	{"workspace_agent_integrations", "", "managersWriteWsMcpIntegrations", never, inPlace},
	{"mcp_servers", viewing, always, always, inPlace},
	{"mcp_servers", "", "managersWriteMcpServers", never, inPlace},
	{"agent_servers", viewing, always, always, inPlace},
	{"agent_servers", "", "managersWriteMcpServers", never, inPlace},
	{"agent_integration_skills", viewing, always, always, inPlace},
	{"agent_integration_skills", "", "managersWriteWsMcpIntegrations", never, inPlace},
	{"agent_server_skills", viewing, always, always, inPlace},
	{"agent_server_skills", "", "managersWriteMcpServers", never, inPlace},
	{"agent_server_user_access", viewing, always, always, inPlace},
	{"agent_server_user_access", "", "managersWriteMcpServers", never, inPlace},
	{"analytics", "", "managersViewAnalytics", "membersViewAnalytics", inPlace},
	{"logs", "view export", "managersViewLogs", "membersViewLogs", inPlace},
	{"logs", "list", "managersViewLogMetadata", "membersViewLogMetadata", inPlace},
	{"logs", "", always, always, inPlace},
	{"completions", "", always, always, inPlace},
	{"models", "", always, always, inPlace},
	{"feedbacks", "", always, always, inPlace},
	{"mcp", "", always, always, inPlace},
	{"agents", "", always, always, inPlace},
}

// ruleOf finds the rule of a scope; the zero rule, which opens nothing, when there
// is none.
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

// firstRule is the first line that is about an action of a resource.
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

// adminToggles bind the admins of the organisation, and not its owners.
var adminToggles = map[Scope]string{
	"logs.view": "organisationAdminsViewLogs", "logs.export": "organisationAdminsViewLogs", "logs.list": "organisationAdminsViewLogMetadata",
}

// opens reports whether the rule lets somebody do it in a workspace, being what they
// are there.
func (r rule) opens(p Membership) bool {
	toggle, is := map[Role]string{Manager: r.manager, Member: r.member}[p.Role]
	return p.Role == Admin && r.ruleScope != orgOnly || is && toggle != never && p.On.has(toggle)
}
