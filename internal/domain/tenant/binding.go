package tenant

import "slices"

// Binding is a guardrail whose failure stops a call, and the reason why it applies to the call:
// {Slug: "pg-no-pii", By: "defaults.input_guardrails of the workspace"}.
type Binding struct{ Slug, By string }

// BindDefaults sets Mandatory to the first guardrail of Denying that runs on every call of the
// workspace. It is a default of the workspace, or one of the organisation from which the
// workspace is not exempt. Call it only while building a Scope.
func (s *Scope) BindDefaults(workspaceID string, o *Organisation) {
	for _, list := range []struct {
		names  []string
		exempt []string
		by     string
	}{
		{s.Defaults.InputGuardrails, nil, "defaults.input_guardrails of the workspace"},
		{s.Defaults.OutputGuardrails, nil, "defaults.output_guardrails of the workspace"},
		{o.Defaults.InputGuardrails, o.Exempt.Input, "input_guardrails of the organisation defaults"},
		{o.Defaults.OutputGuardrails, o.Exempt.Output, "output_guardrails of the organisation defaults"},
	} {
		if slices.Contains(list.exempt, workspaceID) {
			continue
		}
		for _, name := range list.names {
			if slug, ok := s.Denying[name]; ok {
				s.Mandatory = &Binding{slug, list.by}
				return
			}
		}
	}
}
