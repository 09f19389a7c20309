package gateway

import (
	"context"
	"log/slog"
	"sync"

	"sluice/internal/domain/routing"
	"sluice/internal/kernel/fault"
)

// guardrailStep rejects calls that a mandatory guardrail applies to.
type guardrailStep struct {
	guardrailsOff bool
	log           *slog.Logger
	unguarded     sync.Once // for the log message that guardrails are not run
}

// checkGuardrails rejects a call if a guardrail with "deny": true applies to it, because this
// version does not run guardrails: a check that users rely on must not be skipped silently. Other
// guardrails are ignored and logged once. Source: ours, until guardrails run;
// contract/dataplane.md 5 has the five ways in which one is attached.
func (s *guardrailStep) checkGuardrails(_ context.Context, a *attempt) error {
	x, t, scope := a.x, a.target, a.x.scope
	if len(t.Before)+len(t.After) == 0 && (scope == nil || scope.Mandatory == nil) && x.setAside == nil || s.guardrailsOff {
		return nil
	}
	if scope != nil && scope.Mandatory != nil {
		return refuseUnguarded(a, scope.Mandatory.Slug, scope.Mandatory.By)
	}
	if name, by, binds := x.boundBy(t); binds {
		return refuseUnguarded(a, name, by+" in the config "+x.configID)
	}
	if d := x.setAside; d != nil && d.config != x.config {
		for _, t := range d.config.Leaves() {
			if name, by, binds := x.boundBy(t); binds {
				return refuseUnguarded(a, name, by+" in the default config "+d.slug+", which the request may not step around")
			}
		}
	}
	if len(t.Before)+len(t.After) > 0 {
		s.warnUnguarded(x, t)
	}
	return nil
}

// setAside is a default config that the request replaces.
type setAside struct {
	config *routing.Config
	slug   string
}

// setDefaultAside stores the default config of the key or workspace if the request has its own
// config or names a provider. Its mandatory guardrails still apply.
// Source: ours, until guardrails run; contract/dataplane.md 1.1 has the rest replaced.
func setDefaultAside(x *exchange) {
	name := defaultConfig(x)
	if name == "" {
		return
	}
	if c, _, slug, ok := x.dir.FindConfig(x.key.Principal.WorkspaceID, name); ok {
		x.setAside = &setAside{c, slug}
	}
}

// checkNamedGuardrails rejects an inline config that names a guardrail that does not exist.
// Saving such a config is rejected, too.
func (s *guardrailStep) checkNamedGuardrails(x *exchange) error {
	if s.guardrailsOff {
		return nil
	}
	for _, t := range x.config.Leaves() {
		for _, hooks := range [...][]routing.Hook{t.Before, t.After} {
			for i := range hooks {
				h := &hooks[i]
				if h.Saved() && (x.scope == nil || x.scope.Guardrails[h.ID] == "") {
					return fault.Newf(fault.InvalidConfig, "unknown guardrail %q; name one of the workspace or the organisation", clip(h.ID)).WithParam(t.Path)
				}
			}
		}
	}
	return nil
}

// boundBy returns the first guardrail of a target that would stop a call, and how it is attached.
func (c *callerIdentity) boundBy(t *routing.Target) (name, by string, binds bool) {
	for _, list := range [...]struct {
		hooks []routing.Hook
		by    string
	}{{t.Before, "input_guardrails, input_mutators or before_request_hooks"}, {t.After, "output_guardrails, output_mutators or after_request_hooks"}} {
		for i := range list.hooks {
			if name, binds := c.binds(&list.hooks[i]); binds {
				return name, list.by + " of " + t.Path, true
			}
		}
	}
	return "", "", false
}

// binds reports whether a failure of a hook would stop the call. It also returns the hook's name.
func (c *callerIdentity) binds(h *routing.Hook) (name string, binds bool) {
	if c.scope != nil {
		if slug, saved := c.scope.Denying[h.ID]; saved && h.Saved() {
			return slug, true
		}
	}
	return h.ID, h.Deny
}

func refuseUnguarded(a *attempt, name, by string) error {
	a.unguarded = true
	return fault.Newf(fault.NotSupported, "the guardrail %q has deny: true and applies to this call through %s, but this version does not run guardrails; remove it, or set deny to false", clip(name), by).WithParam("guardrails")
}

// warnUnguarded logs, once, that a config has guardrails that are ignored.
func (s *guardrailStep) warnUnguarded(x *exchange, t *routing.Target) {
	s.unguarded.Do(func() {
		s.log.Warn("guardrails are configured but not enforced by this version", "config", x.configID, "target", t.Path, "request_id", x.id)
	})
}
