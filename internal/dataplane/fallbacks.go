package dataplane

import (
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/catalog"
	"sluice/internal/splice"
)

// A call may name models that the provider takes by itself when the first is not to be had
// (modelLists). It costs what the model costs that answered, so that the dearest of them is
// what it may cost at most.
// Source: https://openrouter.ai/docs/guides/routing/model-fallbacks, read 2026-11.

// eachFallback visits the models to fall back to that stand in what is sent: names, or
// objects with a name.
func (a *attempt) eachFallback(visit func(model string)) {
	for _, list := range modelLists {
		raw, _ := paramOf(a, list)
		for one := range splice.Elements(raw) {
			if model, named := splice.Unquote(one); named {
				visit(model)
			}
			for name, val := range splice.Members(one) {
				if model, named := splice.Unquote(val); named && splice.IsName(name, "model") {
					visit(model)
				}
			}
		}
	}
}

// fallbackCap is how long a model to fall back to may make its answer at most, in tokens, as
// [{"model":"claude-opus-4-8","max_tokens":900}] says; 0 where nobody does.
func (a *attempt) fallbackCap() (most int64) {
	for _, list := range modelLists {
		raw, _ := paramOf(a, list)
		for one := range splice.Elements(raw) {
			for name, val := range splice.Members(one) {
				if splice.IsName(name, "max_tokens") {
					most = max(most, tokensOf(gjson.ParseBytes(val)))
				}
			}
		}
	}
	return most
}

// fallsBack reports whether the provider may answer with another model than the first.
func (a *attempt) fallsBack() bool {
	for _, list := range modelLists {
		if _, ok := paramOf(a, list); ok {
			return true
		}
	}
	return false
}

// reach is how much the models take in and give out at most by which the attempt may be
// answered.
func (g *Gateway) reach(a *attempt) catalog.Reach {
	r := g.Prices.Reach(a.spec.ID, a.priceName())
	if !a.stake.falls {
		return r
	}
	a.eachFallback(func(model string) {
		of := g.Prices.Reach(a.spec.ID, model)
		r = catalog.Reach{Input: wider(r.Input, of.Input), Output: wider(r.Output, of.Output)}
	})
	return r
}

// wider is the larger of two figures, of which 0 is not known.
func wider(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}

// bound is what the most of an attempt costs with the dearest model by which it may be
// answered.
func (g *Gateway) bound(a *attempt) int64 {
	s := a.stake
	most := s.tariff.Bound(&s.most)
	if s.falls {
		a.eachFallback(func(model string) {
			most = max(most, g.Prices.Find(a.spec.ID, model, a.x.dir.Agreement(a.account)).Bound(&s.most))
		})
	}
	return most
}

// billed is the model that the attempt is billed for, as price lists name it, and its
// prices: of one that may fall back the model that the answer names, if that has a price.
func (g *Gateway) billed(a *attempt) (string, *catalog.Tariff) {
	s, own, answered := a.stake, a.priceName(), a.log().ReplyModel
	if !s.falls || answered == "" {
		return own, s.tariff
	}
	model, best := answered, likeness(own, answered)
	if best > 0 {
		model = own
	}
	a.eachFallback(func(named string) {
		if n := likeness(named, answered); n > best {
			model, best = named, n
		}
	})
	if model == own {
		return own, s.tariff
	}
	t := g.Prices.Find(a.spec.ID, model, a.x.dir.Agreement(a.account))
	if t.Reason() != "" {
		return own, s.tariff
	}
	return model, t
}

// likeness is how much of the name of a model that answered is that of one that was asked
// for; 0 for another one. Answers name versions ("gpt-4o-2024-11-20"), and leave out how a
// model was to be routed ("gpt-4o:nitro").
func likeness(asked, answered string) int {
	if strings.HasPrefix(answered, asked) || strings.HasPrefix(asked, answered+":") {
		return min(len(asked), len(answered))
	}
	return 0
}
