package live

import (
	"encoding/json"

	"sluice/internal/guard"
	"sluice/internal/resource"
	"sluice/internal/tenant"
)

// denying is a saved guardrail whose failure stops a call. Others are of no interest yet.
type denying struct {
	org, workspace, id, slug string // workspace is empty for one of the organisation
	deny                     bool
}

func decodeGuardrail(_ *Directory, r resource.Record) (any, error) {
	var g guard.Guardrail
	err := json.Unmarshal(r.Body, &g)
	return &denying{r.OrgID, r.WorkspaceID, r.ID, r.ShownSlug(), g.Actions.Deny}, err
}

// denyingByPlace are the guardrails that stop calls, by organisation and workspace.
func (p parts) denyingByPlace() map[[2]string][]*denying {
	found := make(map[[2]string][]*denying)
	for _, v := range p[guard.Kind] {
		if g := v.(*denying); g.deny {
			found[[2]string{g.org, g.workspace}] = append(found[[2]string{g.org, g.workspace}], g)
		}
	}
	return found
}

// bind tells a scope which guardrails that stop calls its workspace can name, and which
// run there by default. Source: contract/identity-and-governance.yaml,
// OrganisationDefaults and Workspace.defaults.
func bind(scope *tenant.Scope, workspaceID string, org *tenant.Organisation, all map[[2]string][]*denying) {
	for _, place := range []string{"", workspaceID} {
		for _, g := range all[[2]string{scope.OrgID, place}] {
			if scope.Denying == nil {
				scope.Denying = make(map[string]string)
			}
			scope.Denying[g.id], scope.Denying[g.slug] = g.slug, g.slug
		}
	}
	scope.BindDefaults(workspaceID, org)
}
