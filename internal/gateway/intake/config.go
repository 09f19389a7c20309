package intake

import (
	"strings"

	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway/call"
	"sluice/internal/kernel/boundedcache"
	"sluice/internal/kernel/fault"
)

const (
	maxCachedConfigs   = 512      // parsed configs
	maxCachedTextBytes = 64 << 10 // longer configs are parsed each time
)

// InlineConfigs parses the configs that requests contain. Safe for concurrent use.
type InlineConfigs struct {
	limits  routing.Limits
	blocked bool
	parsed  *boundedcache.Cache[string, *routing.Config] // by text
}

// NewInlineConfigs creates an empty cache of configs. blocked rejects configuration in headers for
// all callers.
func NewInlineConfigs(limits routing.Limits, blocked bool) *InlineConfigs {
	return &InlineConfigs{limits: limits, blocked: blocked, parsed: boundedcache.New[string, *routing.Config](maxCachedConfigs)}
}

// Parse parses an inline config, or returns it from the cache. The config is shared and must not
// be changed. Errors are those of routing.Parse.
func (c *InlineConfigs) Parse(text string) (*routing.Config, error) {
	if known, ok := c.parsed.Get(text); ok {
		return known, nil
	}
	parsed, err := routing.Parse([]byte(text), c.limits)
	if err == nil && len(text) <= maxCachedTextBytes {
		c.parsed.Put(strings.Clone(text), parsed)
	}
	return parsed, err
}

// Check rejects configuration in headers if the deployment or the organisation allows only saved
// configuration. The error is fault.InlineBlocked. scope is nil for a caller without a workspace.
// Source: contract/dataplane.md 7.1, saved-only mode.
func (c *InlineConfigs) Check(o *call.Options, scope *tenant.Scope) error {
	if !c.blocked && (scope == nil || !scope.SavedOnly) {
		return nil
	}
	blocked := func(code, field string) error {
		return fault.Newf(fault.InlineBlocked, "requests must not set %s here; use a saved config or provider", field).WithType("", code).WithParam(field)
	}
	switch {
	case strings.HasPrefix(strings.TrimSpace(o.Config), "{"):
		return blocked("inline_config_blocked", "x-gateway-config")
	case o.Provider != "" && !strings.HasPrefix(o.Provider, "@"):
		return blocked("inline_provider_blocked", "x-gateway-provider")
	case o.CustomHost != "":
		return blocked("inline_custom_host_blocked", "x-gateway-custom-host")
	case o.Forward != "":
		return blocked("inline_forward_headers_blocked", "x-gateway-forward-headers")
	}
	return nil
}
