package guardrails

import "sluice/internal/domain/guardrail"

// Trial returns the hook of a guardrail for runs outside of calls, with the checks of a phase. The
// hook is synchronous, so that Run waits for it; one that is asynchronous in calls does not deny. With
// enforced it fails as a default of a workspace or organisation does. It is compiled at each call and
// not kept: a draft may never run again.
func (e *Engine) Trial(g *guardrail.Saved, p guardrail.Phase, enforced bool) *Hook {
	h := newSavedHook(g, nil, e.compiler.savedChecks(g)).phaseHook(p)
	h.Enforced = enforced
	if h.Async {
		h.Async, h.Deny = false, false
	}
	return h
}
