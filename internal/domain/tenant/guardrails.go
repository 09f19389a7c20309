package tenant

import "slices"

// SetGuardrails sets the guardrails that run on every call of the workspace: those of the
// organisation from which the workspace is not exempt, then those of the workspace. Call it only
// while building a Scope.
// Source: contract/identity-and-governance.yaml, OrganisationDefaults and Workspace.defaults.
func (s *Scope) SetGuardrails(workspaceID string, o *Organisation) {
	s.InputGuardrails = mandatory(o.Defaults.InputGuardrails, o.Exempt.Input, workspaceID, s.Defaults.InputGuardrails)
	s.OutputGuardrails = mandatory(o.Defaults.OutputGuardrails, o.Exempt.Output, workspaceID, s.Defaults.OutputGuardrails)
}

func mandatory(ofOrganisation, exempt []string, workspaceID string, ofWorkspace []string) []string {
	if slices.Contains(exempt, workspaceID) {
		ofOrganisation = nil
	}
	if len(ofOrganisation) == 0 {
		return ofWorkspace
	}
	return slices.Concat(ofOrganisation, ofWorkspace)
}
