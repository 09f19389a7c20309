package dataplane

import (
	"context"
	"time"

	"sluice/internal/llm"
	"sluice/internal/quota"
)

// tokenRates appends the rates of tokens of a caller's plan. Its rates of requests were
// taken before a target was chosen.
func tokenRates(rates []quota.Hold, p *quota.Plan) []quota.Hold {
	for i := range p.Rates {
		if !p.Rates[i].Spent {
			rates = append(rates, p.Rates[i])
		}
	}
	return rates
}

// demand sets how much the attempt reserves of a limit: the most that it may use. What is
// not known from the call, as the length of an answer without max_tokens, does not keep a
// rate of tokens from letting it through: it then reserves what is left.
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

// tokenDemand is how many tokens the attempt reserves of rates: an estimate of its input
// and the longest answer. Other than budgets, rates need no bound of the input, which is
// several times what usual texts come to; what was used counts when the call ends. Unknown
// says that the call does not say how long its answer may become.
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

// takeAgain gives what a try held of budgets and rates of tokens back, less what it used,
// and takes the same for the next one. Its request was counted.
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

// withoutSpent appends the holds that are returned when an attempt ends: budgets, then rates
// of tokens. Rates of requests are used as soon as they are taken.
func withoutSpent(list, holds []quota.Hold) []quota.Hold {
	for i := range holds {
		if !holds[i].Spent {
			list = append(list, holds[i])
		}
	}
	return list
}

// onlySpent appends the others.
func onlySpent(list, holds []quota.Hold) []quota.Hold {
	for i := range holds {
		if holds[i].Spent {
			list = append(list, holds[i])
		}
	}
	return list
}
