package quota

import "time"

// DryRun tries a policy on calls that were made before there was it: what it would have
// counted and refused, had nothing been used when it begins. Calls are tried one behind
// another, each with what it used in the end; what calls at once would have held besides
// is not known. It belongs to one goroutine.
type DryRun struct {
	policy  *Policy
	limiter *Limiter
	period  Period
	next    time.Time // reset of a budget; zero for never
}

// rehearsed is the id that a policy has while it is tried.
const rehearsed = "rehearsed"

// Rehearse begins to try the policy, which is one that Validate accepts, at a time.
func (p *UsageLimit) Rehearse(from time.Time) *DryRun {
	period := p.Period
	if period.NextResetAt = nil; period.Every == "" && period.Days == 0 {
		return &DryRun{policy: p.Compile(rehearsed), limiter: NewLimiter()}
	}
	return &DryRun{policy: p.Compile(rehearsed), limiter: NewLimiter(), period: period, next: period.First(from)}
}

// Rehearse begins to try the policy, which is one that Validate accepts.
func (p *RateLimit) Rehearse() *DryRun {
	return &DryRun{policy: p.Compile(rehearsed), limiter: NewLimiter()}
}

// PastCall is what a call of the past used.
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

// Verdict is what a policy says of a call.
type Verdict struct {
	Applies  bool
	Refused  bool
	ValueKey string
	Measure  Measure
	Units    int64 // that the call used
	Used     int64 // before it
	Limit    int64
	ResetAt  time.Time // when the counter begins at nothing again; zero for never
}

// Try says what becomes of a call; calls come in the order of their times. One that is
// refused uses nothing.
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
