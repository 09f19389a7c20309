package routing

import "strings"

// content rejects a level without any setting that could have an effect, and a Vertex target
// without an address. Source: contract/dataplane.md 3.4; "@slug" as provider, override_params,
// "gateway" as provider, and any credential field with a provider count as content too (ours): a
// saved provider or a "@slug/model" needs nothing else, and "gateway" manages batches itself.
func (p *parser) content(path string, d *draft) {
	if !d.hasContent() {
		p.failf(path, "must name a provider with its credentials, a saved provider as @slug, strategy with targets, or a setting such as retry, cache or override_params")
	}
	if d.provider == "vertex-ai" && !d.vertex() {
		p.failf(path, "vertex-ai needs vertex_region and either vertex_project_id or vertex_service_account_json")
	}
}

func (d *draft) hasContent() bool {
	o := &d.explicit
	return d.usableProvider() || d.virtualKey != "" || d.promptID != "" || d.passthrough ||
		d.strategy != nil || d.targets != nil || // if only one of them is set, branch reports it
		o.cache != nil || o.providerCache != "" || o.retry != nil || o.timeout != nil || o.forward != nil ||
		len(o.override) > 0 || len(o.defaults) > 0 || len(o.drop) > 0 || o.integrated != nil ||
		d.before.joined() != nil || d.after.joined() != nil ||
		d.has("aws_access_key_id", "aws_secret_access_key") || d.vertex() || d.deployments != nil
}

func (d *draft) usableProvider() bool {
	switch {
	case d.provider == "":
		return false
	case strings.HasPrefix(d.provider, "@"), d.provider == "ollama", d.provider == "triton", d.provider == "gateway":
		return true
	}
	return !d.apiKey.Empty() || d.explicit.customHost != "" || len(d.fields) > 0
}

func (d *draft) vertex() bool {
	return d.has("vertex_region") && (d.has("vertex_project_id") || d.has("vertex_service_account_json"))
}

func (d *draft) has(names ...string) bool {
	for _, n := range names {
		if d.fields[n] == "" {
			return false
		}
	}
	return true
}
