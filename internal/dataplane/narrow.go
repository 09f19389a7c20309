package dataplane

import (
	"sluice/internal/provider"
	"sluice/internal/quota"
)

// narrow reduces a reservation when a budget cannot cover its byte-based maximum: it counts the
// input with the model's tokenizer. When the maximum fits, nothing is counted, because counting
// costs time.
func (g *Gateway) narrow(a *attempt) {
	s := a.reservation
	if a.spec.Platform != provider.PlatformOpenAI || a.x.doc == nil || len(s.falls.list) > 0 || s.falls.may || s.maxUsage.Searches > 0 || !g.tight(a) {
		return
	}
	n, known := g.counter.CountRequest(a.x.match.Endpoint, a.fullRequestBody(), a.priceName())
	if !known {
		return
	}
	if n += a.added(); n >= s.maxUsage.Input {
		return
	}
	s.maxUsage.Input = n
	s.maxCostNano = s.dearest()
	for i := range s.holds {
		a.demand(&s.holds[i])
	}
}

// tight reports whether a strict budget has less left than the attempt would reserve.
func (g *Gateway) tight(a *attempt) bool {
	s, now := a.reservation, g.Clock.Now()
	for i := range s.holds[:s.rates] {
		h := &s.holds[i]
		if h.Soft || h.Measure == quota.Calls {
			continue
		}
		if h.Amount > g.Limiter.State(now, h).Left {
			return true
		}
	}
	return false
}
