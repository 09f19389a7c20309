package gateway

import (
	"log/slog"

	"sluice/internal/dialect"
	"sluice/internal/kernel/boundedcache"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
	"sluice/internal/provider/netguard"
)

// translation defines how an attempt's call is translated for its provider. The zero value leaves
// the call in the caller's format, because the provider uses it too.
type translation struct {
	client   dialect.Client         // of a conversation: the client's format
	upstream dialect.Upstream       // of a conversation: the provider's format
	unified  dialect.OpenAIEndpoint // of any other endpoint
}

// translates reports whether the call is sent in another format than the caller's.
func (s *translation) translates() bool { return s.upstream != nil || s.unified != nil }

// dialectSet contains all dialects. It is immutable.
type dialectSet struct {
	dialects map[provider.Dialect]*dialect.Dialect // by their names in provider specs
	clients  map[llm.Endpoint]dialect.Client       // the client format of each surface; the first one listed wins
}

func newDialectSet(list []*dialect.Dialect) dialectSet {
	t := dialectSet{make(map[provider.Dialect]*dialect.Dialect, len(list)), map[llm.Endpoint]dialect.Client{}}
	for _, d := range list {
		t.dialects[provider.Dialect(d.Name)] = d
		for ep, c := range d.Clients {
			if t.clients[ep] == nil {
				t.clients[ep] = c
			}
		}
	}
	return t
}

// instead lists the endpoints that can serve a conversation of another surface, the best first.
var instead = map[llm.Endpoint][]llm.Endpoint{
	llm.ChatComplete:        {llm.Messages, llm.CreateModelResponse},
	llm.Messages:            {llm.ChatComplete, llm.CreateModelResponse},
	llm.CreateModelResponse: {llm.ChatComplete, llm.Messages},
}

// responsesBeta is the value of x-gateway-beta that translates conversations to Responses
// wherever the provider supports them.
// Source: contract/dataplane.md 1.1; contract/provider-transforms.md section 9.
const responsesBeta = "use-responses-api-2026-07-30"

// otherEndpoints returns the additional endpoints to try for a conversation of a surface.
func (x *exchange) otherEndpoints(surface llm.Endpoint) []llm.Endpoint {
	list := instead[surface]
	if !x.ctl.HasBeta(responsesBeta) || surface == llm.CreateModelResponse {
		return list
	}
	return append([]llm.Endpoint{llm.CreateModelResponse}, list...)
}

// callPlanner determines the address of a target's call and the translation that the call needs.
type callPlanner struct {
	dialects      dialectSet
	clock         ident.Clock
	followUps     *followUpCaller
	log           *slog.Logger
	urls          *netguard.URLCache
	refusedParams *refusedParams
	plans         plans
	profiles      *boundedcache.Cache[profileKey, profiled]
}

// choosePlan plans the call at its own endpoint first, so that it needs no translation when the
// provider supports that. Messages therefore stay with a provider that supports them. A
// conversation may use another endpoint. Chat callers who request Responses use them before their
// own endpoint.
// Source: contract/provider-transforms.md sections 9 and 10.
func (c *callPlanner) choosePlan(a *attempt, call provider.Call) (*provider.Plan, error) {
	surface := a.x.match.Endpoint
	if a.x.nativeClient {
		return c.planNative(a, call)
	}
	if surface == llm.ChatComplete && a.x.ctl.HasBeta(responsesBeta) {
		there := call
		there.Endpoint, there.Path, there.RawQuery = llm.CreateModelResponse, "", ""
		if p, err := c.planFor(a, there, surface); err == nil || !fault.Has(err, fault.NotSupported) {
			return p, err
		}
	}
	call.Endpoint = surface
	p, err := c.planFor(a, call, surface)
	if err == nil || !fault.Has(err, fault.NotSupported) {
		return p, err
	}
	if counts[surface] != "" {
		return c.planEstimate(a, call, err)
	}
	for _, ep := range a.x.otherEndpoints(surface) {
		call.Endpoint, call.Path, call.RawQuery = ep, "", ""
		if other, otherErr := c.planFor(a, call, surface); otherErr == nil || !fault.Has(otherErr, fault.NotSupported) {
			return other, otherErr
		}
	}
	return nil, err
}

// planFor plans the call at one endpoint and finds its translation. The query belongs to the
// caller's surface, so a translated call drops it; the translation sets what the provider needs.
// Google, for example, refuses unknown parameters such as the "beta=true" of coding agents for
// Claude.
func (c *callPlanner) planFor(a *attempt, call provider.Call, surface llm.Endpoint) (*provider.Plan, error) {
	key, cached, lasts := c.plans.find(a, call, surface)
	if cached != nil {
		a.x.scratch.plan, a.speech = cached.plan, cached.speech
		return &a.x.scratch.plan, nil
	}
	if lasts {
		call = owned(call)
		key.call = call
	}
	p, err := a.spec.Plan(call, a.values)
	if err != nil {
		return nil, err
	}
	s, ok := c.dialects.translation(p.Endpoint.Dialect, call.Endpoint, surface)
	if !ok {
		return nil, fault.Newf(fault.NotSupported, "%s is not supported by %s", surface, a.spec.ID)
	}
	if s.translates() && call.RawQuery != "" {
		call.RawQuery = ""
		if p, err = a.spec.Plan(call, a.values); err != nil {
			return nil, err
		}
	}
	if a.speech = s; lasts {
		c.plans.put(a.x.dir, key, &planned{*p, s})
	}
	return p, nil
}

// translation returns how a call of a surface is translated to an endpoint of the dialect. ok is
// false when it cannot be translated.
func (t dialectSet) translation(name provider.Dialect, ep, surface llm.Endpoint) (s translation, ok bool) {
	d := t.dialects[name]
	switch {
	case name == provider.Through:
		return s, true
	case d == nil:
		return s, false
	case d.Unified[ep] != nil:
		return translation{unified: d.Unified[ep]}, true
	case ep == surface && (name == provider.OpenAI || d.Clients[ep] != nil || ep == llm.MessagesCountTokens && d.Clients[llm.Messages] != nil):
		return s, true
	case d.Upstreams[ep] != nil:
		s = translation{client: t.clients[surface], upstream: d.Upstreams[ep]}
		return s, s.client != nil
	}
	return s, false
}
