package access

import (
	"maps"
	"slices"
	"sort"
	"strings"
)

// Scope is one permission, "resource.action", for example "logs.view". Actions are independent:
// list does not include read.
type Scope string

// The scopes that code uses by name. The table below lists all scopes.
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

// NewScopes returns the set of the listed scopes.
func NewScopes(list ...string) Scopes {
	s := make(Scopes, len(list))
	for _, v := range list {
		s[Scope(v)] = struct{}{}
	}
	return s
}

// Has reports whether the set contains v.
func (s Scopes) Has(v Scope) bool { _, ok := s[v]; return ok }

// List returns the scopes, sorted.
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

// holders lists the key types that may hold the actions of a resource. The scopes of
// agent_detail_scopes are internal, and so is the choice of key types for them (ours). cache.purge is ours.
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
	{"cache", "purge", anyKey},
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

// bitOf maps a key type to its bit in the table of holders.
var bitOf = map[KeyType]int{OrganisationService: adminKey, WorkspaceService: serviceKey, WorkspaceUser: userKey}

// known contains all scopes by name, with the key types that may hold them.
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
	keys int // bits of the key types
}

// Allowed returns every scope that a key of the type may hold, sorted.
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

// All returns every scope, sorted.
func All() []string { return slices.Sorted(maps.Keys(known)) }

// MayHold reports whether a key of the type may hold the scope, and whether the scope exists.
func MayHold(t KeyType, name string) (may, exists bool) {
	s, exists := known[name]
	return s.keys&bitOf[t] != 0, exists
}
