package dataplane

import (
	"context"
	"time"

	"sluice/internal/llm"
	"sluice/internal/quota"
)

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

// demand sets the amount that the attempt reserves of a limit: its maximum usage. If the call
// does not limit its usage, for example without max_tokens, a token rate does not reject it: the
// attempt reserves what remains.
func (a *attempt) demand(h *quota.Hold) {
	s := a.reservation
	switch {
	case h.Measure == quota.Calls:
		h.Amount = 1
	case h.Unit != "" && s.later: // its tokens count when the job has ended
		h.Amount = 1
	case h.Unit != "":
		h.Amount, h.Rest = a.tokenDemand()
	case h.Measure == quota.TokenCount:
		h.Amount = s.maxUsage.Input + s.maxUsage.Output
	default:
		h.Amount = s.maxCostNano
	}
}

// tokenDemand returns the number of tokens that the attempt reserves of rates: an estimate of its
// input plus its maximum output. Unlike budgets, rates do not need the maximum input, which is
// several times the usual count; the actual usage counts when the call ends. unknown is true if
// the call does not limit its output.
func (a *attempt) tokenDemand() (n int64, unknown bool) {
	l, x := &a.reservation.maxUsage, a.x
	input := l.Input
	switch {
	case x.match.Endpoint == llm.Realtime, a.segment != nil, x.form != nil:
		return max(input+l.Output, 1), true
	case x.doc == nil:
		return max(input/unreadBytes+l.Output, 1), true
	}
	input = min(input, (int64(len(a.fullRequestBody()))+unreadBytes-1)/unreadBytes)
	return max(input+l.Output, 1), a.reservation.cap == 0 && l.Output > 0
}

// takeAgain releases what a try held of budgets and token rates, less its usage, and takes the
// same for the next try. The request was already counted.
func (g *Gateway) takeAgain(ctx context.Context, now time.Time, a *attempt) error {
	s, r := a.reservation, a.x.scratch
	again := withoutSpent(r.both[:0], s.holds)
	r.both = again
	if !s.moved {
		g.Limiter.Settle(now, again, r.usedUnits(again, &s.finalCharge))
	}
	s.moved, a.outcome = false, answered
	for i := range again {
		if again[i].Rest {
			a.demand(&again[i])
		}
	}
	err := g.take(ctx, now, again, atTarget)
	for i := range s.holds {
		if !s.holds[i].Spent {
			s.holds[i], again = again[0], again[1:]
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
