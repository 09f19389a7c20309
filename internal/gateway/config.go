package gateway

import (
	"strings"

	"sluice/internal/domain/routing"
	"sluice/internal/gateway/intake"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
)

// fromHeaders routes a request without a config: one target that takes everything from the
// headers.
var fromHeaders = routing.Single(routing.Target{})

// configDirectory finds saved configs by their slugs or ids.
type configDirectory interface {
	FindConfig(workspace, name string) (doc *routing.Config, id, slug string, ok bool)
}

// configSelector determines the routing config of a request.
type configSelector struct {
	inlineConfigs *intake.InlineConfigs
	guardrails    *guardrailStep
}

// chooseConfig determines the routing of the request: the config header, else a provider named in
// headers or body, else the default of the key or workspace.
// Source: contract/dataplane.md 1.1 and 1.3.
func (s *configSelector) chooseConfig(x *exchange) error {
	if x.inner != nil && x.namesTarget() {
		x.config = fromHeaders // as the deployment or the guardrail decides, whatever the caller may select
		return nil
	}
	if err := s.inlineConfigs.Check(&x.ctl, x.scope); err != nil {
		return err
	}
	x.locked = x.key.Key.Defaults.ConfigID != "" && !x.key.Key.Defaults.MayOverride()
	switch {
	case x.locked && x.ctl.Config != "":
		return lockedConfig("x-gateway-config", "x-gateway-config")
	case x.locked && x.ctl.CustomHost != "":
		return lockedConfig("x-gateway-custom-host", "x-gateway-custom-host")
	case x.ctl.Config != "":
		return s.namedConfig(x, x.ctl.Config)
	}
	if !x.locked && x.namesTarget() {
		x.config = fromHeaders
		return nil
	}
	if name := defaultConfig(x); name != "" {
		return s.namedConfig(x, name)
	}
	if x.asksModels() {
		return nil // the catalogue needs no target
	}
	return fault.New(fault.InvalidRequest, "no target: send x-gateway-provider or x-gateway-config, or set model to a saved provider as @slug/model").WithParam("x-gateway-provider")
}

// namesTarget reports whether the request names a provider, in its headers, its model or its prompt.
func (x *exchange) namesTarget() bool {
	return x.ctl.Provider != "" || x.ctl.VirtualKey != "" || x.account != "" || x.prompt.provider() != ""
}

// lockedConfig rejects a request that would bypass the config of the key.
func lockedConfig(what, field string) error {
	return fault.Newf(fault.InvalidRequest, "the API key has a config that requests must not override; remove %s", what).WithParam(field)
}

// checkLocked rejects a body that was not parsed if a locked config would change it.
func checkLocked(x *exchange) error {
	if !x.locked || !x.bodyNotParsed || x.config == nil {
		return nil
	}
	for _, t := range x.config.Leaves() {
		if len(t.Override)+len(t.Default)+len(t.Drop) > 0 {
			return fault.New(fault.InvalidRequest, "the API key has a config that changes bodies and that requests must not override; send the body as application/json, a JSON object").WithParam("content-type")
		}
	}
	return nil
}

// inlineConfig is the config name of a config in the request, where a saved config has its slug.
const inlineConfig = "inline"

func defaultConfig(x *exchange) string {
	if name := x.key.Key.Defaults.ConfigID; name != "" {
		return name
	}
	if x.scope == nil {
		return ""
	}
	if x.key.Principal.UserID != "" && x.scope.Defaults.UserAPIKeyConfig != "" {
		return x.scope.Defaults.UserAPIKeyConfig
	}
	return x.scope.Defaults.ConfigID
}

// namedConfig uses a config that is given inline, beginning with a brace, or is saved in the
// workspace under that slug or id.
func (s *configSelector) namedConfig(x *exchange, name string) error {
	if strings.HasPrefix(strings.TrimLeft(name, " \t"), "{") {
		c, err := s.inlineConfigs.Parse(name)
		x.config, x.configID = c, inlineConfig
		if err != nil {
			return err
		}
		return s.guardrails.checkInline(x)
	}
	c, id, slug, ok := x.dir.FindConfig(x.key.Principal.WorkspaceID, name)
	if !ok {
		return fault.Newf(fault.InvalidRequest, "unknown config %q in this workspace; an inline config must be a JSON object", clip(name)).WithParam("x-gateway-config")
	}
	x.config, x.configID, x.savedAs = c, slug, quota.Named{Slug: slug, ID: id}
	return nil
}
