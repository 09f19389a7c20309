package metering

import (
	"strconv"
	"time"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
)

// limitScope is the stage at which a limit refuses a call.
type limitScope uint8

const (
	atCaller limitScope = iota // before a target is chosen, by the caller's limits
	atTarget                   // in the attempt at one target; other targets may be tried
	atFee                      // as atTarget, by a limit that cannot pay for a fee
)

// retrySoon is the retry delay of a call that was refused because other calls hold the remaining
// budget. They release what they do not use.
const retrySoon = time.Second

// exhaustTypes are the error types of refusals, by the kind of the record that has the limit.
// Source: contract/identity-and-governance.md sections 6 and 7.
var exhaustTypes = map[string]string{
	quota.IntegrationWorkspace: "integration", credential.ProviderKind: "virtual_key", credential.VirtualKeyKind: "virtual_key",
	tenant.WorkspaceKind: "workspace", keys.Kind: "api_key",
}

// refusal returns the error of a limit that refuses a call: the limit, what is left of it, and
// whether and when a retry can help.
func refusal(h *quota.Hold, left int64, resetAt, now time.Time, where limitScope) *fault.Error {
	who := h.Owner
	if who == nil {
		who = &quota.Owner{}
	}
	var f *fault.Error
	if h.Unit != "" {
		f = rateRefusal(h, who, left, where)
	} else {
		f = budgetRefusal(h, who, left, where)
	}
	switch {
	case h.Unit == "" && left > 0 && h.Amount > left && h.Amount <= h.Limit:
		f = f.WithRetry(retrySoon).WithAgain(fault.AgainHelps)
	case h.Unit != "" && h.Amount > h.Limit && !h.Rest:
		f = f.WithAgain(fault.AgainNever)
	case !resetAt.IsZero():
		f = f.WithRetry(max(resetAt.Sub(now), time.Second)).WithAgain(fault.AgainHelps)
	default:
		f = f.WithAgain(fault.AgainNever)
	}
	return f
}

// refused returns the error of a limit that refuses a call. When other calls hold a token rate,
// it can be released long before the window ends, so the retry delay is short.
func refused(l Limiter, h *quota.Hold, left int64, resetAt, now time.Time, where limitScope) *fault.Error {
	f := refusal(h, left, resetAt, now, where)
	if h.Unit == "" || h.Spent || f.Retryable != fault.AgainHelps {
		return f
	}
	need := max(h.Amount, 1)
	if h.Rest {
		need = 1
	}
	if l.State(now, h).Used <= h.Limit-need {
		f = f.WithRetry(retrySoon)
	}
	return f
}

func budgetRefusal(h *quota.Hold, who *quota.Owner, left int64, where limitScope) *fault.Error {
	text := "the " + subjectName(who) + " has used its complete budget of " + h.Measure.Text(h.Limit) + measureSuffixes[h.Measure]
	if left > 0 {
		text = "this call can use up to " + h.Measure.Text(h.Amount) + measureSuffixes[h.Measure] + ", and " + h.Measure.Text(left) +
			" is left in the budget of the " + subjectName(who) + "; set max_tokens lower, or wait until running calls end"
	}
	if left > 0 && where == atFee {
		text = "the guardrail checks of this call can cost " + h.Measure.Text(h.Amount) + measureSuffixes[h.Measure] + ", and " + h.Measure.Text(left) +
			" is left in the budget of the " + subjectName(who)
	}
	switch {
	case where == atCaller:
		return fault.New(fault.KeyBudgetExhausted, text)
	case who.Kind == quota.UsageLimitKind:
		return fault.New(fault.BudgetExhausted, text+policyText(h, who)).WithType("usage_limits_policy_exhaust_error", "06")
	}
	return fault.New(fault.BudgetExhausted, text).WithType(exhaustTypes[who.Kind]+"_exhaust_error", "04")
}

// rateRefusal returns the same form for the caller's limits at every stage. Token rates are
// checked at the target, where the maximum usage of the call is known.
func rateRefusal(h *quota.Hold, who *quota.Owner, left int64, where limitScope) *fault.Error {
	text := "the " + subjectName(who) + " is limited to " + h.Measure.Text(h.Limit) + measureSuffixes[h.Measure] + " " + unitNames[h.Unit]
	if where == atTarget && !h.Spent && !h.Rest && h.Amount > 0 {
		text += "; this call can use up to " + h.Measure.Text(h.Amount) + ", and " + h.Measure.Text(left) + " are left; set max_tokens lower, or wait"
	}
	switch {
	case where == atCaller, who.Kind == keys.Kind, who.Kind == tenant.WorkspaceKind:
		return fault.New(fault.KeyRateLimited, text)
	case who.Kind == quota.RateLimitKind:
		return fault.New(fault.RateLimited, text+policyText(h, who)).WithType("rate_limits_policy_exhaust_error", "")
	}
	return fault.New(fault.RateLimited, text).WithType(exhaustTypes[who.Kind]+"_rate_limit_error", "")
}

// measureSuffixes are the units that follow an amount.
var measureSuffixes = map[quota.Measure]string{quota.Cost: " US dollars", quota.TokenCount: " tokens", quota.Calls: " requests"}

var unitNames = map[quota.Unit]string{quota.PerMinute: "a minute", quota.PerHour: "an hour", quota.PerDay: "a day", quota.PerWeek: "a week"}

// kindNames are the kinds of limit owners in texts for callers.
var kindNames = map[string]string{
	keys.Kind: "API key", tenant.WorkspaceKind: "workspace", quota.IntegrationWorkspace: "integration in this workspace",
	credential.ProviderKind: "provider", credential.VirtualKeyKind: "virtual key", quota.UsageLimitKind: "usage-limit policy", quota.RateLimitKind: "rate-limit policy",
}

func subjectName(who *quota.Owner) string {
	if who.Name == "" {
		return kindNames[who.Kind]
	}
	return kindNames[who.Kind] + " " + strconv.Quote(fault.Clip(who.Name))
}

// policyText names the policy and the value key of a refusal.
func policyText(h *quota.Hold, who *quota.Owner) string {
	return " (policy " + who.ID + ", " + fault.Clip(h.Counter.ValueKey) + ")"
}

// RateState is the state of a rate limit, for the headers of a response.
type RateState struct {
	Limit     int64 // requests or tokens in a window
	Remaining int64
	Reset     time.Duration // until the window ends
}

// TightestRate returns the rate limit of a request that has the smallest remaining share, of those
// of the caller and of the last target. ok is false when no rate applies.
func (m *Meter) TightestRate(x *Caller, a *Account) (state RateState, ok bool) {
	if len(x.limits) == 0 && len(a.mem.holds) == 0 {
		return state, false
	}
	now := m.Clock.Now()
	var tight *quota.Hold
	var minShare float64
	for _, list := range [...][]quota.Hold{x.limits, a.mem.holds} {
		for i := range list {
			if list[i].Unit == "" {
				continue
			}
			left, taken := list[i].Remaining()
			if !taken {
				left = m.Limiter.State(now, &list[i]).Left
			}
			if s := share(left, list[i].Limit); tight == nil || s < minShare {
				tight, minShare = &list[i], s
			}
		}
	}
	if tight == nil {
		return state, false
	}
	current := m.Limiter.State(now, tight)
	return RateState{Limit: tight.Limit, Remaining: current.Left, Reset: current.ResetAt.Sub(now)}, true
}

// share returns the remaining fraction of a limit, from 0 to 1.
func share(left, limit int64) float64 { return float64(left) / float64(max(limit, 1)) }
