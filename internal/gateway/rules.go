package gateway

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/provider"
)

// rules are an endpoint's changes to bodies, in the form that dialects use.
type rules struct {
	request  dialect.RequestRules
	response dialect.ResponseRules
}

// ruleCache caches the rules of every called endpoint. The number of endpoints is fixed by the
// specifications, and the rules never change.
type ruleCache struct{ known sync.Map } // *provider.Endpoint to *rules

func (b *ruleCache) lookup(p *provider.Plan) *rules {
	if r, ok := b.known.Load(p.Endpoint); ok {
		return r.(*rules)
	}
	r, _ := b.known.LoadOrStore(p.Endpoint, translate(p.Spec, p.Endpoint))
	return r.(*rules)
}

// responseRules returns the changes to an attempt's response. Without strict compliance, the
// caller receives the provider's own finish reasons and extra fields.
// Source: contract/dataplane.md 1.1, strict compliance.
func (b *ruleCache) responseRules(a *attempt) dialect.ResponseRules {
	r := b.lookup(a.plan).response
	if !a.strict {
		r.FinishReasons, r.Extras, r.Blocks = nil, nil, true
	}
	return r
}

func translate(s *provider.Spec, e *provider.Endpoint) *rules {
	r := &rules{
		request: dialect.RequestRules{
			Drop: e.Params.Drop, ModelPrefix: s.Model.StripPrefix,
			SystemRole: !s.KeepDeveloper, StreamUsage: s.Stream.AskUsage,
			ReasoningField: e.Params.ReasoningField, ThinkingSwitch: e.Params.ThinkingSwitch, CallIDs: e.Params.CallIDs, CustomTools: e.Params.CustomTools,
			DocumentURLs: e.Params.DocumentURLs, Inline: e.Params.InlineMedia, Threads: e.Params.Threads,
		},
		response: dialect.ResponseRules{
			FinishReasons: e.Response.FinishReasons, UsagePath: e.Response.UsagePath, Extras: e.Response.Extras, NoDone: s.Stream.NoDone,
			ContentLists: e.Response.ContentLists,
		},
	}
	for _, k := range slices.Sorted(maps.Keys(e.Params.Default)) {
		r.request.Default = append(r.request.Default, dialect.Param{Key: k, Raw: e.Params.Default[k]})
	}
	for _, k := range slices.Sorted(maps.Keys(e.Params.Rename)) {
		r.request.Rename = append(r.request.Rename, fields.Rename{Path: k, To: e.Params.Rename[k]})
	}
	for _, k := range slices.Sorted(maps.Keys(e.Params.Values)) {
		swap := dialect.Swap{Path: k, Values: map[string]string{}}
		for from, to := range e.Params.Values[k] {
			swap.Values[string(jsonedit.Quote(from))] = string(to)
		}
		r.request.Swap = append(r.request.Swap, swap)
	}
	for _, k := range deepestFirst(e.Response.Rename) {
		r.response.Rename = append(r.response.Rename, fields.Rename{Path: k, To: e.Response.Rename[k]})
	}
	return r
}

// deepestFirst sorts paths by depth, so that a rename does not remove the parent of a later path.
func deepestFirst(m map[string]string) []string {
	keys := slices.Sorted(maps.Keys(m))
	slices.SortStableFunc(keys, func(a, b string) int { return depth(b) - depth(a) })
	return keys
}

func depth(path string) int { return strings.Count(path, ".") + strings.Count(path, "[") }
