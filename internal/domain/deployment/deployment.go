// Package deployment contains the gateways that are registered with a control plane:
// their type, who may use them, and the token by which each identifies itself.
package deployment

import (
	"encoding/json"
	"maps"
	"slices"

	"sluice/internal/kernel/fault"
)

// Kind is the kind of the stored record.
const Kind = "gateway_deployment"

// Type is the purpose of a deployment. Each type has its own limit.
// Source: spec, Other resources.
type Type string

// The types, as answers spell them.
const (
	Production    Type = "production"
	NonProduction Type = "non-production"
)

// ReadType reads a type in either spelling.
// Source: contract/identity-and-governance.md section 16, point 3.
func ReadType(s string) Type {
	if s == "non_production" {
		return NonProduction
	}
	return Type(s)
}

// Deployment is the stored body of a deployment.
// Source: contract/identity-and-governance.yaml, Deployment.
type Deployment struct {
	Name      string          `json:"name"`
	Type      Type            `json:"type"`
	Config    json.RawMessage `json:"deployment_config,omitempty"` // free-form settings, a JSON object
	IsDefault bool            `json:"is_default,omitempty"`
	Auth      Auth            `json:"auth_settings"`
	Hash      string          `json:"hash"`   // of the client_auth, in hex
	Masked    string          `json:"masked"` // "sk*****x4Q"
	CreatedBy string          `json:"created_by,omitempty"`
}

// Auth is the address of a deployment and who may use it. Empty lists allow everybody.
// Source: contract/identity-and-governance.yaml, DeploymentAuthSettings.
type Auth struct {
	BaseURL           string            `json:"gateway_base_url,omitempty"`
	MCPBaseURL        string            `json:"mcp_gateway_base_url,omitempty"`
	DataService       bool              `json:"is_dataservice_hosted,omitempty"`
	Playground        bool              `json:"is_playground_proxy_allowed,omitempty"`
	Workspaces        []string          `json:"workspaces_allowed,omitempty"` // ids
	Subjects          []string          `json:"jwt_subs_allowed,omitempty"`
	SubjectWorkspaces map[string]string `json:"jwt_sub_workspace_mapping,omitempty"` // sub to workspace id
}

// Change is an update of the lists. Workspaces are ids.
type Change struct {
	Workspaces, Subjects             []string
	SubjectWorkspaces                map[string]string
	RemoveWorkspaces, RemoveSubjects []string
	All                              bool // no restriction to workspaces any more
	Replace                          bool // the lists that were sent take the place of the present ones
}

// MaxListed bounds each of the lists.
const MaxListed = 1000

// Apply changes the lists: what was sent is added or, with Replace, put in place of
// what was there; mapped subjects and their workspaces are allowed too; then what is
// to go goes, with the mappings that lead to it. A restriction that would lose its
// last entry this way is fault.InvalidParameter: an empty list allows everybody.
func (a *Auth) Apply(c Change) error {
	if c.Replace {
		a.replace(c)
	}
	if c.All {
		a.Workspaces = nil
	}
	a.Workspaces, a.Subjects = union(a.Workspaces, c.Workspaces), union(a.Subjects, c.Subjects)
	for _, sub := range slices.Sorted(maps.Keys(c.SubjectWorkspaces)) {
		if a.SubjectWorkspaces == nil {
			a.SubjectWorkspaces = make(map[string]string)
		}
		a.SubjectWorkspaces[sub] = c.SubjectWorkspaces[sub]
		a.Subjects = union(a.Subjects, []string{sub})
		a.Workspaces = union(a.Workspaces, []string{c.SubjectWorkspaces[sub]})
	}
	if err := remove(&a.Workspaces, c.RemoveWorkspaces, "remove_workspaces_allowed"); err != nil {
		return err
	}
	if err := remove(&a.Subjects, c.RemoveSubjects, "remove_subs_allowed"); err != nil {
		return err
	}
	maps.DeleteFunc(a.SubjectWorkspaces, func(sub, workspaceID string) bool {
		return slices.Contains(c.RemoveSubjects, sub) || slices.Contains(c.RemoveWorkspaces, workspaceID)
	})
	for field, n := range map[string]int{"workspaces_allowed": len(a.Workspaces), "jwt_subs_allowed": len(a.Subjects), "jwt_sub_workspace_mapping": len(a.SubjectWorkspaces)} {
		if n > MaxListed {
			return fault.Newf(fault.InvalidParameter, "must not have more than %d", MaxListed).WithParam("auth_settings." + field)
		}
	}
	return nil
}

func (a *Auth) replace(c Change) {
	if c.Workspaces != nil {
		a.Workspaces = nil
	}
	if c.Subjects != nil {
		a.Subjects = nil
	}
	if c.SubjectWorkspaces != nil {
		a.SubjectWorkspaces = nil
	}
}

func union(list, more []string) []string {
	for _, v := range more {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

func remove(list *[]string, gone []string, field string) error {
	had := len(*list)
	*list = slices.DeleteFunc(*list, func(v string) bool { return slices.Contains(gone, v) })
	if had > 0 && len(*list) == 0 {
		return fault.New(fault.InvalidParameter, "must not become empty, because an empty list allows all callers; set override_existing with a new list, or allow_all_workspaces").WithParam("auth_settings." + field)
	}
	return nil
}

// Serves reports whether a workspace may use the deployment.
func (a *Auth) Serves(workspaceID string) bool {
	return len(a.Workspaces) == 0 || slices.Contains(a.Workspaces, workspaceID)
}
