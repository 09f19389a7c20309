package dataplane

import (
	"sluice/internal/provider"
	"sluice/internal/quota"
)

// narrow reserves what the call can really use where a budget has no room for the bound by
// bytes: the input by the vocabulary of the model. Where the bound fits nothing is counted,
// because it would only cost time.
func (g *Gateway) narrow(a *attempt) {
	s := a.stake
	if a.spec.Platform != provider.PlatformOpenAI || a.x.doc == nil || len(s.falls.list) > 0 || s.falls.may || s.most.Searches > 0 || !g.tight(a) {
		return
	}
	n, known := g.counter.CountRequest(a.x.match.Endpoint, a.asked(), a.priceName())
	if !known {
		return
	}
	if n += a.added(); n >= s.most.Input {
		return
	}
	s.most.Input = n
	s.bound = s.dearest()
	for i := range s.holds {
		a.demand(&s.holds[i])
	}
}

// tight reports whether a strict budget has less left than the attempt would reserve.
func (g *Gateway) tight(a *attempt) bool {
	s, now := a.stake, g.Clock.Now()
	for i := range s.holds[:s.rates] {
		h := &s.holds[i]
		if h.Soft || h.Measure == quota.Calls {
			continue
		}
		if h.Amount > g.Bank.State(now, h).Left {
			return true
		}
	}
	return false
}
