package dataplane

import (
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/catalog"
	"sluice/internal/fault"
	"sluice/internal/splice"
)

// A call may name models that the provider takes by itself when the first is not to be had
// (modelLists). It costs what the model costs that answered, so that the dearest of them is
// what it may cost at most.
// Source: https://openrouter.ai/docs/guides/routing/model-fallbacks, read 2026-11.

// fallbacks are the models that a call names for its provider to fall back to.
type fallbacks struct {
	may  bool // the provider may answer with another model than the first: also when none is named
	list []fallback
	cap  int64 // tokens that one of them may make its answer at most, as [{"model":"claude-opus-4-8","max_tokens":900}] says; 0: not said
}

type fallback struct {
	model  string // as it is named
	tariff *catalog.RateCard
}

// maxFallbacks is how many models a call may name for that. Providers take three.
const maxFallbacks = 100

// fallbacks finds them in what is sent: names, or objects with a name.
func (g *Gateway) fallbacks(a *attempt) (f fallbacks, err error) {
	add := func(raw []byte) {
		if model, named := splice.Unquote(raw); named && len(f.list) <= maxFallbacks {
			f.list = append(f.list, fallback{model, g.priceOf(a, model)})
		}
	}
	for _, list := range modelLists {
		raw, ok := paramOf(a, list)
		f.may = f.may || ok
		for one := range splice.Elements(raw) {
			add(one)
			for name, val := range splice.Members(one) {
				switch {
				case splice.IsName(name, "model"):
					add(val)
				case splice.IsName(name, "max_tokens"):
					f.cap = max(f.cap, tokensOf(gjson.ParseBytes(val)))
				}
			}
			if len(f.list) > maxFallbacks {
				return f, fault.Newf(fault.InvalidParameter, "must not have more than %d fallback models", maxFallbacks).WithParam(list)
			}
		}
	}
	return f, nil
}

// models are all by which the attempt may be answered, until it is asked again.
func (a *attempt) models() []string {
	list := append(a.reservation.modelBuf[:0], a.priceName())
	for i := range a.reservation.falls.list {
		list = append(list, a.reservation.falls.list[i].model)
	}
	return list
}

// reach is how much the models take in and give out at most by which the attempt may be
// answered.
func (g *Gateway) reach(a *attempt) catalog.ContextLimits {
	r := g.Prices.ContextLimits(a.spec.ID, a.priceName())
	for i := range a.reservation.falls.list {
		fallbackLimits := g.Prices.ContextLimits(a.spec.ID, a.reservation.falls.list[i].model)
		r = catalog.ContextLimits{
			Input: wider(r.Input, fallbackLimits.Input), Output: wider(r.Output, fallbackLimits.Output),
			Reasoning: max(r.Reasoning, fallbackLimits.Reasoning), HidesReasoning: r.HidesReasoning || fallbackLimits.HidesReasoning,
		}
	}
	return r
}

// wider is the larger of two figures, of which 0 is not known.
func wider(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}

// dearest is what the most of an attempt costs with the dearest model by which it may be
// answered.
func (s *reservation) dearest() int64 {
	maxCost := s.tariff.MaxCost(&s.maxUsage)
	for i := range s.falls.list {
		maxCost = max(maxCost, s.falls.list[i].tariff.MaxCost(&s.maxUsage))
	}
	return maxCost
}

// billed is the model that the attempt is billed for, as price lists name it, and its
// prices: of one that may fall back, or whose model stands in a path that is passed through or
// in a body that is not read, the model that the answer names, if that has a price.
func (g *Gateway) billed(a *attempt) (string, *catalog.RateCard) {
	s, requested, answered := a.reservation, a.priceName(), a.log().ResponseModel
	unread := requested == "" && a.x.bodyNotParsed
	if !s.falls.may && !a.modelInPath && !unread || answered == "" {
		return requested, s.tariff
	}
	like, best := fallback{requested, s.tariff}, likeness(requested, answered)
	for _, f := range s.falls.list {
		if n := likeness(f.model, answered); n > best {
			like, best = f, n
		}
	}
	if best == 0 {
		like = fallback{answered, g.priceOf(a, answered)}
	}
	if like.tariff.Reason() != "" {
		return requested, s.tariff
	}
	return like.model, like.tariff
}

// likeness is how much of the name of a model that answered is that of one that was asked
// for; 0 for another one. Answers name versions ("gpt-4o-2024-11-20"), and leave out how a
// model was to be routed ("gpt-4o:nitro").
func likeness(requested, answered string) int {
	if strings.HasPrefix(answered, requested) || strings.HasPrefix(requested, answered+":") {
		return min(len(requested), len(answered))
	}
	return 0
}
