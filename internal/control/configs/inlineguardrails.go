package configs

import (
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/routing"
)

// checkInlineGuardrails rejects a config whose inline guardrails name an unknown check, have
// invalid parameters, or run a check on the wrong side of a call.
func (k configs) checkInlineGuardrails(c *routing.Config) error {
	for _, t := range c.Leaves() {
		if err := k.checkHooks(t.Before, guardrail.Input); err != nil {
			return err
		}
		if err := k.checkHooks(t.After, guardrail.Output); err != nil {
			return err
		}
	}
	return nil
}

func (k configs) checkHooks(hooks []routing.Hook, p guardrail.Phase) error {
	for i := range hooks {
		for _, c := range hooks[i].Checks {
			check := guardrail.Check{ID: c.ID, Parameters: c.Parameters}
			if err := k.Checks.ValidateUse(&check, p, guardrail.Place{ID: c.IDPath, Params: c.ParamPath}); err != nil {
				return err
			}
			if err := k.Checks.CheckURLs(&check, c.ParamPath, k.Guard.CheckURL); err != nil {
				return err
			}
		}
	}
	return nil
}
