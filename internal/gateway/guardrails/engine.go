package guardrails

import (
	"log/slog"
	"slices"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/ident"
)

// Directory finds saved guardrails. *live.Snapshot implements it.
type Directory interface {
	FindGuardrail(workspace, name string) *guardrail.Saved // by slug or id; nil if not found
}

// Engine compiles guardrails and runs them. It is safe for concurrent use.
type Engine struct {
	compiler *compiler
	clock    ident.Clock
	metrics  *Metrics
	log      *slog.Logger
}

// New returns an engine that runs the checks of a catalog with these dependencies.
func New(c *Catalog, d *check.Deps, clock ident.Clock, m *Metrics, log *slog.Logger) *Engine {
	return &Engine{compiler: newCompiler(c, d, log), clock: clock, metrics: m, log: log}
}

// Set has the hooks that apply to calls of a target. It is immutable.
type Set struct{ Before, After []*Hook }

// Empty reports whether no hook applies.
func (s *Set) Empty() bool { return s == nil || len(s.Before)+len(s.After) == 0 }

// Reversible reports whether a hook replaces what it finds in requests by placeholders.
func (s *Set) Reversible() bool { return s != nil && slices.ContainsFunc(s.Before, (*Hook).Reversible) }

// RedactsRequests reports whether a hook replaces what it finds in requests.
func (s *Set) RedactsRequests() bool {
	return s != nil && slices.ContainsFunc(s.Before, (*Hook).Redacts)
}

// Versions returns the versions of the hooks in the order in which they run, each with its phase:
// "input:id@version" of a saved guardrail, and "input:id@version#fingerprint" where a config defines the
// hook or changes how it acts. Calls with equal versions were judged by equal guardrails.
func (s *Set) Versions() []string {
	if s == nil {
		return nil
	}
	out := make([]string, 0, len(s.Before)+len(s.After))
	for _, h := range s.Before {
		out = append(out, string(guardrail.Input)+":"+h.version())
	}
	for _, h := range s.After {
		out = append(out, string(guardrail.Output)+":"+h.version())
	}
	return out
}

// version returns "id@version", with the fingerprint of what a config decides about the hook.
func (h *Hook) version() string {
	version := h.ID + "@" + h.VersionID
	if h.content != "" {
		version += "#" + h.content
	}
	return version
}

// Hooks returns the hooks of a target: those of its config, then the defaults of the workspace and the
// organisation. Unknown names are left out: reading and saving a config rejects them. A guardrail that
// is both a default and named by the config runs once, as a default.
// Source: contract/dataplane.md 3.5.
func (e *Engine) Hooks(dir Directory, workspace string, scope *tenant.Scope, t *routing.Target) *Set {
	var defaultsIn, defaultsOut []string
	if scope != nil {
		defaultsIn, defaultsOut = scope.InputGuardrails, scope.OutputGuardrails
	}
	if len(t.Before)+len(t.After)+len(defaultsIn)+len(defaultsOut) == 0 {
		return nil
	}
	return &Set{
		Before: e.phase(dir, workspace, defaultsIn, t.Before, guardrail.Input),
		After:  e.phase(dir, workspace, defaultsOut, t.After, guardrail.Output),
	}
}

func (e *Engine) phase(dir Directory, workspace string, defaults []string, uses []routing.Hook, p guardrail.Phase) []*Hook {
	var out []*Hook
	for i := range uses {
		h := e.hook(dir, workspace, &uses[i])
		if h == nil {
			continue
		}
		out = append(out, h.phaseHook(p))
	}
	for _, name := range defaults {
		g := dir.FindGuardrail(workspace, name)
		if g == nil {
			continue
		}
		h := e.compiler.savedHook(g, nil).phaseHook(p)
		if i := slices.IndexFunc(out, func(o *Hook) bool { return o.ID == h.ID && !o.Mutator }); i >= 0 {
			h.Deny = h.Deny || out[i].Deny
			out[i] = h
			continue
		}
		out = append(out, h)
	}
	return out
}

func (e *Engine) hook(dir Directory, workspace string, use *routing.Hook) *Hook {
	if !use.Saved() {
		return e.compiler.inlineHook(use)
	}
	if g := dir.FindGuardrail(workspace, use.ID); g != nil {
		return e.compiler.savedHook(g, use)
	}
	return nil
}

// phaseHook returns the hook with the checks that run in a phase. A saved guardrail may have checks for both.
func (h *Hook) phaseHook(p guardrail.Phase) *Hook {
	selected := make([]compiled, 0, len(h.checks))
	for i := range h.checks {
		if d := h.checks[i].definition; d == nil || d.Runs(p) {
			selected = append(selected, h.checks[i])
		}
	}
	h.checks = selected
	return h
}
