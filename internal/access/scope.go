package access

import (
	"maps"
	"slices"
	"sort"
	"strings"
)

// Scope is one permission, "resource.action", for example "logs.view". Each
// action stands alone: list does not include read.
type Scope string

// The scopes that code asks for by name; the whole list is the table below.
const (
	CompletionsWrite Scope = "completions.write"
	LogsView         Scope = "logs.view"
	LogsList         Scope = "logs.list"
	LogsWrite        Scope = "logs.write"
	LogsExport       Scope = "logs.export"
	PromptsRender    Scope = "prompts.render"
)

// Scopes is a set of scopes. The nil set is empty.
type Scopes map[Scope]struct{}

// NewScopes makes a set.
func NewScopes(list ...string) Scopes {
	s := make(Scopes, len(list))
	for _, v := range list {
		s[Scope(v)] = struct{}{}
	}
	return s
}

// Has reports whether the set holds s.
func (s Scopes) Has(v Scope) bool { _, ok := s[v]; return ok }

// List returns the scopes in order.
func (s Scopes) List() []string {
	out := make([]string, 0, len(s))
	for v := range s {
		out = append(out, string(v))
	}
	sort.Strings(out)
	return out
}

const crud = "create read update delete list"

const (
	adminKey = 1 << iota
	serviceKey
	userKey

	anyKey       = adminKey | serviceKey | userKey
	workspaceKey = serviceKey | userKey
)

// holders says which key types may hold the actions of a resource. Those of
// agent_detail_scopes are not public and ours, and so is who may hold them.
// Source: contract/identity-and-governance.yaml, scopes.
var holders = []struct {
	resource, actions string
	keys              int
}{
	{"organisation_users", crud, adminKey},
	{"organisation_service_api_keys", crud + " rotate", adminKey},
	{"audit_logs", "list", adminKey},
	{"plugins", "create update list", adminKey},
	{"deployments", crud, adminKey},
	{"secret_references", crud, adminKey},
	{"workspaces", "create delete", adminKey},
	{"organisation_integrations", "create read update delete", adminKey},
	{"organisation_mcp_integrations", "create read update delete", adminKey},
	{"organisation_agent_integrations", "create read update delete", adminKey},
	{"organisation_settings", "read update", adminKey},
	{"organisation_guardrails", crud, adminKey},
	{"organisation_exclusions", "update list", adminKey},
	{"scim_workspaces", "create delete list", adminKey},
	{"workspace_service_api_keys", crud + " rotate", adminKey | serviceKey},
	{"workspace_user_api_keys", crud + " rotate", adminKey | serviceKey},
	{"workspaces", "read update list", anyKey},
	{"workspace_users", crud, anyKey},
	{"prompts", crud + " publish", anyKey},
	{"configs", crud, anyKey},
	{"guardrails", crud, anyKey},
	{"virtual_keys", crud + " duplicate copy", anyKey},
	{"providers", crud, anyKey},
	{"policies", crud, anyKey},
	{"workspace_integrations", crud, anyKey},
	{"workspace_mcp_integrations", crud, anyKey},
	{"workspace_agent_integrations", crud, anyKey},
	{"organisation_integrations", "list", anyKey},
	{"organisation_mcp_integrations", "list", anyKey},
	{"organisation_agent_integrations", "list", anyKey},
	{"mcp_servers", crud, anyKey},
	{"agent_servers", crud, anyKey},
	{"agent_integration_skills", "read update", anyKey},
	{"agent_server_skills", "read update", anyKey},
	{"agent_server_user_access", "read update", anyKey},
	{"analytics", "view", anyKey},
	{"logs", "export list view", anyKey},
	{"completions", "write read", workspaceKey},
	{"models", "list", workspaceKey},
	{"prompts", "render", workspaceKey},
	{"logs", "write read", workspaceKey},
	{"feedbacks", "read write", workspaceKey},
	{"mcp", "invoke", workspaceKey},
	{"agents", "invoke", workspaceKey},
	{"guardrails", "invoke", workspaceKey},
}

// bitOf is the bit of a type in the table of holders.
var bitOf = map[KeyType]int{OrganisationService: adminKey, WorkspaceService: serviceKey, WorkspaceUser: userKey}

// known are all scopes by name, with the types of keys that may hold them.
var known = func() map[string]scope {
	m := make(map[string]scope)
	for _, h := range holders {
		for _, action := range strings.Fields(h.actions) {
			name := h.resource + "." + action
			m[name] = scope{name, m[name].keys | h.keys}
		}
	}
	return m
}()

type scope struct {
	name string
	keys int // bits of the types
}

// Allowed returns every scope that a key of that type may hold, in order.
func Allowed(t KeyType) []string {
	var out []string
	for name, s := range known {
		if s.keys&bitOf[t] != 0 {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

// All returns every scope that there is, in order.
func All() []string { return slices.Sorted(maps.Keys(known)) }

// MayHold reports whether a key of that type may hold the scope, and whether the
// scope exists at all.
func MayHold(t KeyType, name string) (may, exists bool) {
	s, exists := known[name]
	return s.keys&bitOf[t] != 0, exists
}
