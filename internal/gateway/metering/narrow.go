package metering

import (
	"sluice/internal/gateway/metering/bound"
	"sluice/internal/limits/quota"
	"sluice/internal/provider"
)

// narrow reduces a reservation when a budget cannot cover its byte-based maximum: it counts the
// input with the model's tokenizer. When the maximum fits, nothing is counted, because counting
// costs time. It reports whether it set the amounts of the holds again.
func (m *Meter) narrow(a *Account, c *bound.Call) bool {
	if c.Spec.Platform != provider.PlatformOpenAI || c.Doc == nil || len(a.models.Fallbacks) > 0 || a.models.MayFallBack || a.max.Searches > 0 || !m.isTight(a) {
		return false
	}
	n, known := m.Counter.CountRequest(c.Endpoint, c.FullBody(), c.PriceName())
	if !known {
		return false
	}
	if n += c.Added(); n >= a.max.Input {
		return false
	}
	a.max.Input = n
	a.maxNano = a.models.MaxCost(&a.max)
	for i := range a.holds {
		a.setAmount(&a.holds[i], c)
	}
	return true
}

// isTight reports whether a strict budget has less left than the account would reserve.
func (m *Meter) isTight(a *Account) bool {
	now, budgets := m.Clock.Now(), a.Budgets()
	for i := range budgets {
		h := &budgets[i]
		if h.Soft || h.Measure == quota.Calls {
			continue
		}
		if h.Amount > m.Limiter.State(now, h).Left {
			return true
		}
	}
	return false
}
