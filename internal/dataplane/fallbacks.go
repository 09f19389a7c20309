package dataplane

import (
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/catalog"
	"sluice/internal/fault"
	"sluice/internal/splice"
)

// A call may name models that the provider uses automatically when the first one is unavailable
// (modelLists). It costs what the answering model costs, so its maximum cost is that of the most
// expensive one.
// Source: https://openrouter.ai/docs/guides/routing/model-fallbacks, read 2026-11.

// fallbacks are the fallback models that a call names for its provider.
type fallbacks struct {
	may  bool // the provider may use another model than the first, even if none is named
	list []fallback
	cap  int64 // maximum output tokens of a fallback, as in [{"model":"claude-opus-4-8","max_tokens":900}]; 0: not set
}

type fallback struct {
	model  string // name in the request
	tariff *catalog.RateCard
}

// maxFallbacks is the maximum number of fallback models of a call. Providers accept three.
const maxFallbacks = 100

// fallbacks reads them from the call as it is sent: names, or objects with a name.
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

// models returns all models that may answer the attempt. The slice is valid until the next call.
func (a *attempt) models() []string {
	list := append(a.reservation.modelBuf[:0], a.priceName())
	for i := range a.reservation.falls.list {
		list = append(list, a.reservation.falls.list[i].model)
	}
	return list
}

// reach returns the highest input and output limits of the models that may answer the attempt.
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

// wider returns the larger of two limits. 0 means unknown, and so the result is 0.
func wider(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}

// dearest returns the maximum cost of an attempt with the most expensive model that may answer
// it.
func (s *reservation) dearest() int64 {
	maxCost := s.tariff.MaxCost(&s.maxUsage)
	for i := range s.falls.list {
		maxCost = max(maxCost, s.falls.list[i].tariff.MaxCost(&s.maxUsage))
	}
	return maxCost
}

// billed returns the model for which the attempt is billed, as price lists name it, and its
// prices. It is the model of the response, if that has a price, in three cases: the call may fall
// back, its model is in a passed-through path, or its body is not parsed.
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

// likeness returns the length of the common prefix if a requested and an answering model are the
// same model, else 0. Responses add versions ("gpt-4o-2024-11-20") and omit routing suffixes
// ("gpt-4o:nitro").
func likeness(requested, answered string) int {
	if strings.HasPrefix(answered, requested) || strings.HasPrefix(requested, answered+":") {
		return min(len(requested), len(answered))
	}
	return 0
}
