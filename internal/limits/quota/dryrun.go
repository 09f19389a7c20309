package quota

import "time"

// DryRun replays past calls against a policy: what it would have counted and rejected if
// nothing was used at the start. Calls are tried one after another, each with its final usage.
// What concurrent calls would have held in addition is not known. It belongs to one goroutine.
type DryRun struct {
	policy  *Policy
	limiter *Limiter
	period  Period
	next    time.Time // reset of a budget; zero for never
}

// rehearsed is the id of a policy in a dry run.
const rehearsed = "rehearsed"

// Rehearse starts a dry run of the policy at a time. Validate must accept the policy.
func (p *UsageLimit) Rehearse(from time.Time) *DryRun {
	period := p.Period
	if period.NextResetAt = nil; period.Every == "" && period.Days == 0 {
		return &DryRun{policy: p.Compile(rehearsed), limiter: NewLimiter()}
	}
	return &DryRun{policy: p.Compile(rehearsed), limiter: NewLimiter(), period: period, next: period.First(from)}
}

// Rehearse starts a dry run of the policy. Validate must accept the policy.
func (p *RateLimit) Rehearse() *DryRun {
	return &DryRun{policy: p.Compile(rehearsed), limiter: NewLimiter()}
}

// PastCall is the usage of a past call.
type PastCall struct {
	CalledAt time.Time
	Nano     int64 // cost in nano-dollars
	Tokens   int64
}

func (p PastCall) units(m Measure) int64 {
	switch m {
	case Calls:
		return 1
	case TokenCount:
		return p.Tokens
	case Cost:
	}
	return p.Nano
}

// Verdict is what a policy would have done with a call.
type Verdict struct {
	Applies  bool
	Refused  bool
	ValueKey string
	Measure  Measure
	Units    int64 // used by the call
	Used     int64 // before it
	Limit    int64
	ResetAt  time.Time // when the counter resets; zero for never
}

// Try returns what the policy does with a call. Calls must come in the order of their times. A
// rejected call uses nothing.
func (r *DryRun) Try(c *Call, p PastCall) Verdict {
	if !r.next.IsZero() && !p.CalledAt.Before(r.next) {
		r.limiter, r.next = NewLimiter(), r.period.After(r.next, p.CalledAt)
	}
	h, applies := r.policy.Match(c)
	if !applies {
		return Verdict{}
	}
	h.Amount = p.units(h.Measure)
	s := r.limiter.State(p.CalledAt, &h)
	v := Verdict{Applies: true, ValueKey: h.Counter.ValueKey, Measure: h.Measure, Units: h.Amount, Used: s.Used, Limit: h.Limit, ResetAt: s.ResetAt}
	if h.Unit == "" {
		v.ResetAt = r.next
	}
	holds := []Hold{h}
	if refused, _, _ := r.limiter.Take(p.CalledAt, holds); refused >= 0 {
		v.Refused = true
		return v
	}
	r.limiter.Settle(p.CalledAt, holds, []int64{h.Amount})
	return v
}
