package metering

import (
	"context"
	"time"

	"sluice/internal/gateway/metering/bound"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/quota"
)

// Collect lists what a call takes from every limit that applies, in the order of the checks: first
// budgets, then rates. The amounts follow from the maximum of the account.
// Source: contract/identity-and-governance.md section 7.
func (m *Meter) Collect(a *Account, x *Caller, s *Subject, c *bound.Call) {
	h := append(append(a.mem.holds[:0], s.Integration.Budgets...), s.Provider.Budgets...)
	h = append(append(h, x.workspace.Budgets...), x.key.Budgets...)
	rates := append(append(a.mem.rates[:0], s.Integration.Rates...), s.Provider.Rates...)
	rates = tokenRates(tokenRates(rates, x.workspace), x.key)
	h, rates = s.Policies.Match(&s.Call, h, rates)
	a.rates = len(h)
	h = append(h, rates...)
	for i := range h {
		h[i].Org = s.Call.OrgID
		a.setAmount(&h[i], c)
	}
	a.mem.holds, a.mem.rates, a.holds = h, rates, h
}

// tokenRates appends the token rates of a caller's plan. Its request rates were taken before a
// target was chosen.
func tokenRates(rates []quota.Hold, p *quota.Plan) []quota.Hold {
	for i := range p.Rates {
		if !p.Rates[i].Spent {
			rates = append(rates, p.Rates[i])
		}
	}
	return rates
}

// setAmount sets the amount that the account reserves of a limit: its maximum usage. If the call
// does not limit its usage, for example without max_tokens, a token rate does not reject it: the
// account reserves what remains.
func (a *Account) setAmount(h *quota.Hold, c *bound.Call) {
	switch {
	case h.Measure == quota.Calls:
		h.Amount = 1
	case h.Unit != "" && a.later: // its tokens count when the job has ended
		h.Amount = 1
	case h.Unit != "":
		h.Amount, h.Rest = a.rateTokens(c)
	case h.Measure == quota.TokenCount:
		h.Amount = a.max.Input + a.max.Output
	default:
		h.Amount = a.maxNano
	}
}

// rateTokens returns the number of tokens that the account reserves of rates: an estimate of its
// input plus its maximum output. Unlike budgets, rates do not need the maximum input, which is
// several times the usual count; the actual usage counts when the call ends. unknown is true if
// the call does not limit its output.
func (a *Account) rateTokens(c *bound.Call) (n int64, unknown bool) {
	input, output := a.max.Input, a.max.Output
	switch {
	case c.Endpoint == llm.Realtime, c.Segment, c.Form != nil:
		return max(input+output, 1), true
	case c.Doc == nil:
		return max(input/unreadBytes+output, 1), true
	}
	input = min(input, (int64(len(c.FullBody()))+unreadBytes-1)/unreadBytes)
	return max(input+output, 1), a.length.MaxTokens == 0 && output > 0
}

// takeAgain releases what a try held of budgets and token rates, less its usage, and takes the
// same for the next try. The request was already counted.
func (m *Meter) takeAgain(ctx context.Context, now time.Time, a *Account, c *bound.Call) error {
	again := withoutSpent(a.mem.again[:0], a.holds)
	a.mem.again = again
	if !a.moved {
		m.Limiter.Settle(now, again, a.usedUnits(again))
	}
	a.moved, a.outcome = false, Answered
	for i := range again {
		if again[i].Rest {
			a.setAmount(&again[i], c)
		}
	}
	err := m.take(ctx, now, again, atTarget)
	for i := range a.holds {
		if !a.holds[i].Spent {
			a.holds[i], again = again[0], again[1:]
		}
	}
	return err
}

// withoutSpent appends the holds that are released when an attempt ends: budgets, then token
// rates. Request rates are used as soon as they are taken.
func withoutSpent(list, holds []quota.Hold) []quota.Hold {
	for i := range holds {
		if !holds[i].Spent {
			list = append(list, holds[i])
		}
	}
	return list
}

// onlySpent appends the other holds.
func onlySpent(list, holds []quota.Hold) []quota.Hold {
	for i := range holds {
		if holds[i].Spent {
			list = append(list, holds[i])
		}
	}
	return list
}
