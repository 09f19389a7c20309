package guardrails

import "sluice/internal/gateway/guardrails/check"

// price returns what the paid hooks cost at most, in nano-dollars, as far as their checks have a known
// price. Verdicts that are known cost nothing.
func price(hooks []*Hook, order []int, data *content) (nano int64) {
	for _, i := range order {
		h := hooks[i]
		if data.unread && !h.textless() || data.call.Memo.has(keyOf(h, data.phase, data.body)) {
			continue
		}
		for k := range h.checks {
			if priced, ok := h.checks[k].runner.(check.Priced); ok {
				in, _ := data.input(h.Scope, h.checks[k].redacts(), h.checks[k].searches())
				nano += priced.Price(in)
			}
		}
	}
	return nano
}

// noteUnpaid keeps why nothing could pay for a check.
func (r *Result) noteUnpaid(got *check.Result) {
	if got.Unpaid != nil {
		r.unpaid = got.Unpaid
	}
}

// waive removes the cost of a result that was paid before.
func (r *Result) waive() {
	for i := range r.Checks {
		r.Checks[i].CostNano = 0
	}
}

// addCosts adds the costs of another run of the same checks.
func (r *Result) addCosts(other []CheckResult) {
	for i := range r.Checks {
		if i < len(other) {
			r.Checks[i].CostNano += other[i].CostNano
		}
	}
}

// Reused returns the results for a further attempt that uses them. They cost nothing there.
func Reused(list []Result) []Result {
	out := cloned(list)
	for i := range out {
		out[i].waive()
	}
	return out
}
