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
	inWorkspace ruleScope = iota // in the workspaces of a person
	anywhere                     // also outside of them, for every member of the organisation
	orgOnly                      // owners and admins of the organisation, and nobody else
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
	return p.Role == Admin && r.ruleScope != orgOnly || is && toggle != never && p.Switches.has(toggle)
}
