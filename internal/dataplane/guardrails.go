package dataplane

import (
	"context"

	"sluice/internal/fault"
	"sluice/internal/routing"
)

// checkGuardrails refuses a call that a guardrail with "deny": true binds, because this
// version does not run guardrails: a check that somebody relies on must not be passed by
// in silence. Others are ignored, and the log says so once. Source: ours, until guardrails
// run; contract/dataplane.md 5 has the five ways in which one is attached.
func (g *Gateway) checkGuardrails(_ context.Context, a *attempt) error {
	t, place := a.target, a.x.place
	if len(t.Before)+len(t.After) == 0 && (place == nil || place.Bound == nil) || g.set.GuardrailsOff {
		return nil
	}
	if place != nil && place.Bound != nil {
		return a.refuseUnguarded(place.Bound.Slug, place.Bound.By)
	}
	for _, list := range [...]struct {
		hooks []routing.Hook
		by    string
	}{{t.Before, "input_guardrails, input_mutators or before_request_hooks"}, {t.After, "output_guardrails, output_mutators or after_request_hooks"}} {
		for i := range list.hooks {
			if name, binds := a.x.binds(&list.hooks[i]); binds {
				return a.refuseUnguarded(name, list.by+" of "+t.Path+" in the config "+a.x.configID)
			}
		}
	}
	g.warnUnguarded(a.x, t)
	return nil
}

// binds reports whether a failure of a hook would stop the call, and what the hook is called.
func (x *exchange) binds(h *routing.Hook) (name string, binds bool) {
	if x.place != nil {
		if slug, saved := x.place.Denying[h.ID]; saved && h.Saved() {
			return slug, true
		}
	}
	return h.ID, h.Deny
}

func (a *attempt) refuseUnguarded(name, by string) error {
	a.unguarded = true
	return fault.Newf(fault.NotSupported, "the guardrail %q has deny: true and binds this call by %s, but this version does not run guardrails; take it off, or set deny to false", clip(name), by).At("guardrails")
}

// warnUnguarded logs, once, that a config has guardrails that are ignored.
func (g *Gateway) warnUnguarded(x *exchange, t *routing.Target) {
	g.unguarded.Do(func() {
		g.Log.Warn("a config has guardrails, and this version does not run them: every call is let through", "config", x.configID, "target", t.Path, "request_id", x.id)
	})
}
