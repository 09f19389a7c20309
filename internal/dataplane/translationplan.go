package dataplane

import (
	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/provider"
)

// translation is how an attempt's call is put to its provider. The zero value leaves it in
// the caller's own words, because the provider speaks them too.
type translation struct {
	client   dialect.Client         // a conversation: the caller's side
	upstream dialect.Upstream       // and the provider's
	unified  dialect.OpenAIEndpoint // any other endpoint
}

// translates reports whether the call goes out in other words than it came.
func (s *translation) translates() bool { return s.upstream != nil || s.unified != nil }

// dialectSet are all dialects. They never change.
type dialectSet struct {
	dialects map[provider.Dialect]*dialect.Dialect // by the names that provider specs use
	clients  map[llm.Endpoint]dialect.Client       // what callers speak on a surface; of several the first that is listed
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

// instead are the endpoints that can carry a conversation of another surface, the
// best first.
var instead = map[llm.Endpoint][]llm.Endpoint{
	llm.ChatComplete:        {llm.Messages, llm.CreateModelResponse},
	llm.Messages:            {llm.ChatComplete, llm.CreateModelResponse},
	llm.CreateModelResponse: {llm.ChatComplete, llm.Messages},
}

// responsesBeta is the value of x-gateway-beta that has conversations translated to
// Responses wherever the provider has them.
// Source: contract/dataplane.md 1.1; contract/provider-transforms.md section 9.
const responsesBeta = "use-responses-api-2026-07-30"

// otherEndpoints are the endpoints to try for a conversation of a surface, beside its own.
func (x *exchange) otherEndpoints(surface llm.Endpoint) []llm.Endpoint {
	list := instead[surface]
	if !x.ctl.asksFor(responsesBeta) || surface == llm.CreateModelResponse {
		return list
	}
	return append([]llm.Endpoint{llm.CreateModelResponse}, list...)
}

// choosePlan plans the call at the endpoint of its own, so that it need not be
// translated where the provider has one; a conversation may go to another. Chat callers
// who ask for Responses get them before their own endpoint; messages stay with a provider
// that speaks them.
// Source: contract/provider-transforms.md sections 9 and 10.
func (g *Gateway) choosePlan(a *attempt, call provider.Call) (*provider.Plan, error) {
	surface := a.x.match.Endpoint
	if a.x.nativeClient {
		return g.planNative(a, call)
	}
	if surface == llm.ChatComplete && a.x.ctl.asksFor(responsesBeta) {
		there := call
		there.Endpoint, there.Path, there.RawQuery = llm.CreateModelResponse, "", ""
		if p, err := g.planFor(a, there, surface); err == nil || !fault.Has(err, fault.NotSupported) {
			return p, err
		}
	}
	call.Endpoint = surface
	p, err := g.planFor(a, call, surface)
	if err == nil || !fault.Has(err, fault.NotSupported) {
		return p, err
	}
	if counts[surface] != "" {
		return g.planEstimate(a, call, err)
	}
	for _, ep := range a.x.otherEndpoints(surface) {
		call.Endpoint, call.Path, call.RawQuery = ep, "", ""
		if other, otherErr := g.planFor(a, call, surface); otherErr == nil || !fault.Has(otherErr, fault.NotSupported) {
			return other, otherErr
		}
	}
	return nil, err
}

// planFor plans the call at one endpoint and finds out how it is put there. A query is in
// the words of the surface: what a translation needs of it, it puts in the provider's, and
// the rest stays here. Google refuses calls with a parameter that it does not know, such as
// the "beta=true" of coding agents that speak to Claude.
func (g *Gateway) planFor(a *attempt, call provider.Call, surface llm.Endpoint) (*provider.Plan, error) {
	key, cached, lasts := g.plans.find(a, call, surface)
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
	s, ok := g.dialects.translation(p.Endpoint.Dialect, call.Endpoint, surface)
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
		g.plans.put(a.x.dir, key, &planned{*p, s})
	}
	return p, nil
}

// translation says how a call of a surface is put to an endpoint in that dialect; ok is
// false when it cannot be.
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
