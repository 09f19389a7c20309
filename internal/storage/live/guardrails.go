package live

import (
	"encoding/json"

	"sluice/internal/control/resource"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/tenant"
)

// storedGuardrail contains the fields of a saved guardrail that calls need.
type storedGuardrail struct {
	org, workspace, id, slug string // workspace is empty for a guardrail of the organisation
	deny                     bool   // its failure stops a call
}

func decodeGuardrail(_ *Directory, r resource.Record) (any, error) {
	var g guardrail.Guardrail
	err := json.Unmarshal(r.Body, &g)
	return &storedGuardrail{r.OrgID, r.WorkspaceID, r.ID, r.ShownSlug(), g.Actions.Deny}, err
}

// guardrailsByPlace returns the guardrails by organisation and workspace.
func (p parts) guardrailsByPlace() map[[2]string][]*storedGuardrail {
	found := make(map[[2]string][]*storedGuardrail)
	for _, v := range p[guardrail.Kind] {
		g := v.(*storedGuardrail)
		found[[2]string{g.org, g.workspace}] = append(found[[2]string{g.org, g.workspace}], g)
	}
	return found
}

// bind adds to a scope the guardrails that configs of its workspace can name, those of them
// that stop calls, and the default guardrail of the workspace. Source:
// contract/identity-and-governance.yaml, OrganisationDefaults and Workspace.defaults.
func bind(scope *tenant.Scope, workspaceID string, org *tenant.Organisation, all map[[2]string][]*storedGuardrail) {
	for _, scopeID := range []string{"", workspaceID} {
		for _, g := range all[[2]string{scope.OrgID, scopeID}] {
			if scope.Guardrails == nil {
				scope.Guardrails = make(map[string]string)
			}
			scope.Guardrails[g.id], scope.Guardrails[g.slug] = g.slug, g.slug
			if !g.deny {
				continue
			}
			if scope.Denying == nil {
				scope.Denying = make(map[string]string)
			}
			scope.Denying[g.id], scope.Denying[g.slug] = g.slug, g.slug
		}
	}
	scope.BindDefaults(workspaceID, org)
}
