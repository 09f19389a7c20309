package guardrails

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/boundedcache"
)

// maxCompiled is the maximum number of guardrails that are kept compiled.
const maxCompiled = 4096

// compiler compiles guardrails once. It is safe for concurrent use.
type compiler struct {
	catalog *Catalog
	deps    *check.Deps
	log     *slog.Logger
	saved   *boundedcache.Cache[*guardrail.Saved, []compiled]
	inline  *boundedcache.Cache[*routing.Hook, []compiled]
}

func newCompiler(c *Catalog, d *check.Deps, log *slog.Logger) *compiler {
	return &compiler{
		catalog: c, deps: d, log: log,
		saved: boundedcache.New[*guardrail.Saved, []compiled](maxCompiled), inline: boundedcache.New[*routing.Hook, []compiled](maxCompiled),
	}
}

// savedHook returns the hook of a saved guardrail. use is the hook of a config that names it, nil for
// a default of the workspace or the organisation.
func (c *compiler) savedHook(g *guardrail.Saved, use *routing.Hook) *Hook {
	list, known := c.saved.Get(g)
	if !known {
		list = c.savedChecks(g)
		c.saved.Put(g, list)
	}
	return newSavedHook(g, use, list)
}

// savedChecks compiles the enabled checks of a saved guardrail.
func (c *compiler) savedChecks(g *guardrail.Saved) (list []compiled) {
	for i := range g.Checks {
		if g.Checks[i].Enabled() {
			list = append(list, c.compile(g.Slug, g.Checks[i].ID, g.Checks[i].Parameters))
		}
	}
	return list
}

// newSavedHook returns the hook of a saved guardrail with its compiled checks.
func newSavedHook(g *guardrail.Saved, use *routing.Hook, list []compiled) *Hook {
	a := &g.Actions
	h := &Hook{
		ID: g.Slug, VersionID: g.VersionID, Deny: a.Deny, Async: a.Async, Sequential: a.Sequential, SoftDeny: a.SoftDeny200,
		Enforced: use == nil, Stream: a.Stream, Scope: a.Scope, Message: a.Message,
		OnSuccess: savedFeedback(a.OnSuccess.Feedback), OnFail: savedFeedback(a.OnFail.Feedback), checks: list,
	}
	if use != nil {
		h.apply(use)
		h.content = fingerprint(use)
	}
	return h
}

// apply applies the fields that a config sets next to the name of a saved guardrail. It cannot weaken
// the guardrail: what is on stays on, and a call waits for a guardrail that the config makes deny.
func (h *Hook) apply(use *routing.Hook) {
	h.Mutator = use.Type == routing.Mutator
	h.Deny = h.Deny || use.Deny
	h.Sequential = h.Sequential || use.Sequential
	h.SoftDeny = h.SoftDeny || use.SoftDeny200
	switch {
	case use.Sync, use.Deny:
		h.Async = false
	case use.Async && !h.Deny:
		h.Async = true
	}
	if use.Stream != "" && (h.Stream == "" || use.Stream != StreamReport) {
		h.Stream = use.Stream
	}
	if use.Scope != "" && h.Scope != "all" {
		h.Scope = use.Scope
	}
	if use.OnSuccess != nil {
		h.OnSuccess = readFeedback(use.OnSuccess)
	}
	if use.OnFail != nil {
		h.OnFail = readFeedback(use.OnFail)
	}
}

// inlineHook returns the hook of a guardrail that a config defines.
func (c *compiler) inlineHook(h *routing.Hook) *Hook {
	list, known := c.inline.Get(h)
	if !known {
		for i := range h.Checks {
			if h.Checks[i].Enabled {
				list = append(list, c.compile(h.ID, h.Checks[i].ID, h.Checks[i].Parameters))
			}
		}
		c.inline.Put(h, list)
	}
	return &Hook{
		ID: h.ID, Mutator: h.Type == routing.Mutator, VersionID: h.VersionID, Deny: h.Deny, Async: h.Async, Sequential: h.Sequential,
		SoftDeny: h.SoftDeny200, Stream: h.Stream, Scope: h.Scope, OnSuccess: readFeedback(h.OnSuccess), OnFail: readFeedback(h.OnFail), checks: list,
		content: fingerprint(h),
	}
}

// fingerprint returns a text that changes with each field of a config that decides about verdicts.
func fingerprint(h *routing.Hook) string {
	sum := sha256.New()
	for _, part := range [...]any{h.ID, h.Type, h.Deny, h.Async, h.Sync, h.Sequential, h.Stream, h.Scope, h.SoftDeny200, len(h.Checks)} {
		fmt.Fprintf(sum, "%q ", fmt.Sprint(part))
	}
	for i := range h.Checks {
		fmt.Fprintf(sum, "%q %t %q ", h.Checks[i].ID, h.Checks[i].Enabled, h.Checks[i].Parameters)
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// compile compiles one check. A check that cannot be compiled is an error each time it runs: it was
// saved by an earlier version, and the failure rule of its hook decides.
func (c *compiler) compile(hook, id string, raw json.RawMessage) compiled {
	definition, known := c.catalog.Find(id)
	if !known {
		c.log.Error("unknown guardrail check; each run of it fails", "guardrail", hook, "check", id)
		return compiled{id: id, broken: &check.Error{Name: "Check error", Message: "the check does not exist in this version"}}
	}
	out := compiled{id: definition.ID, definition: definition}
	params, err := check.ReadParams(raw)
	if err == nil {
		if b, isSet := params["failOnError"].(bool); isSet {
			out.failOnError = &b
		}
		out.reversible = params["redact"] == "reversible"
		out.runner, err = definition.New(params, c.deps)
	}
	if err != nil {
		c.log.Error("cannot compile guardrail check; each run of it fails", "guardrail", hook, "check", id, "error", err.Error())
		out.broken = &check.Error{Name: "Check error", Message: err.Error()}
	}
	return out
}
