package routing

import (
	"slices"
	"time"
)

// leaf builds the target of a level that does not have a strategy.
func (from *inherited) leaf(path string, d *draft) *Target {
	t := &Target{
		Path: path, ID: from.id, Provider: d.provider, VirtualKey: d.virtualKey, APIKey: d.apiKey,
		PromptID: d.promptID, Fields: d.fields, Deployments: d.deployments,
		CustomHost: from.customHost, ForwardHeaders: from.forward, Passthrough: d.passthrough,
		Default: from.defaults, Override: from.override, Drop: from.drop,
		Retry: from.retry, Cache: from.cache, Timeout: value(from.timeout), Strict: from.strict,
		Before: from.before, After: from.after, Breaker: from.breaker,
		FetchIntegratedModels: value(from.integrated), ContinueStream: value(from.continueStream),
		ProviderCache: from.providerCache,
	}
	if t.Cache != nil && t.Cache.Mode == cacheOff {
		t.Cache = nil
	}
	if t.ProviderCache == providerCacheOff {
		t.ProviderCache = ""
	}
	return t
}

// value returns what v points to, or zero for nil.
func value[T bool | time.Duration](v *T) (to T) {
	if v != nil {
		to = *v
	}
	return to
}

// merged merges the child's parameters into the parent's. A parameter of both has the parent's
// position and the child's value.
func merged(parent, child []Param) []Param {
	if len(child) == 0 {
		return parent
	}
	out := slices.Clone(parent)
	for _, c := range child {
		i := slices.IndexFunc(out, func(o Param) bool { return o.Key == c.Key })
		if i < 0 {
			out = append(out, c)
		} else {
			out[i] = c
		}
	}
	return out
}

// mergedList returns the parent's list followed by the child's additional items.
func mergedList(parent, child []string) []string {
	out := slices.Clip(parent)
	for _, c := range child {
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}
