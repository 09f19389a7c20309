package budgets

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/limits/quota"
)

// BudgetIn is a budget in a body. quota.ReadBudgets checks the rules that a schema cannot
// express.
type BudgetIn struct {
	Type              string     `json:"type,omitempty" enum:"cost,tokens" default:"cost" doc:"Measure of the limit; cost is in US dollars"`
	CreditLimit       float64    `json:"credit_limit" minimum:"1" doc:"Amount that may be used, with at most 6 decimals"`
	AlertThreshold    *float64   `json:"alert_threshold,omitempty" nullable:"true" minimum:"1" doc:"Less than credit_limit; an email is sent when usage reaches it"`
	Mode              string     `json:"mode,omitempty" enum:"strict,soft" default:"strict" doc:"strict rejects a call that might exceed the limit, including reservations of running calls; soft rejects only once the limit is reached, so running calls may exceed it"`
	PeriodicReset     *string    `json:"periodic_reset,omitempty" nullable:"true" enum:"weekly,monthly" doc:"Reset on Mondays or the 1st, at 00:00 UTC; not together with periodic_reset_days"`
	PeriodicResetDays *int       `json:"periodic_reset_days,omitempty" nullable:"true" minimum:"1" maximum:"365"`
	NextUsageResetAt  *time.Time `json:"next_usage_reset_at,omitempty" nullable:"true" doc:"Next reset, at 00:00 UTC of that day; computed when absent"`
}

// RateIn is a rate in a body.
type RateIn struct {
	Type  string `json:"type" enum:"requests,tokens" doc:"Measure of the limit"`
	Unit  string `json:"unit" enum:"rpm,rph,rpd,rpw" doc:"Window: minute, hour, day or week, in UTC"`
	Value int64  `json:"value" minimum:"0" maximum:"1000000000000" doc:"Maximum in a window"`
}

// BudgetTerms is a budget as it was set, without its usage.
type BudgetTerms struct {
	Type             quota.Measure     `json:"type,omitempty" enum:"cost,tokens" doc:"Absent when it was not sent, which means cost"`
	CreditLimit      jsonfield.Number  `json:"credit_limit"`
	AlertThreshold   *jsonfield.Number `json:"alert_threshold" nullable:"true"`
	Mode             quota.Mode        `json:"mode" enum:"strict,soft"`
	Every            *string           `json:"periodic_reset" nullable:"true" enum:"weekly,monthly"`
	Days             *int              `json:"periodic_reset_days" nullable:"true"`
	NextUsageResetAt *resource.Stamp   `json:"next_usage_reset_at" nullable:"true"`
}

// BudgetView is a budget with its usage.
type BudgetView struct {
	ID string `json:"id" format:"uuid"`
	BudgetTerms
	Status         string           `json:"status" enum:"active,exhausted"`
	CurrentUsage   jsonfield.Number `json:"current_usage" doc:"Usage in the unit of credit_limit"`
	ThresholdAlert bool             `json:"is_threshold_alerts_sent"`
	ExhaustedAlert bool             `json:"is_exhausted_alerts_sent"`
	ExpiredAlert   *bool            `json:"is_expired_alerts_sent,omitempty" doc:"Only for resources with an expiry"`
	LastResetAt    *resource.Stamp  `json:"last_reset_at" nullable:"true"`
}

func viewBudget(b *quota.Budget, m quota.Meter) BudgetView {
	return BudgetView{
		ID: b.ID, BudgetTerms: ViewTerms(b, &m.NextReset), Status: StatusOf(m), CurrentUsage: jsonfield.Number(b.Measure.Text(m.Used)),
		ThresholdAlert: m.ThresholdAlert, ExhaustedAlert: m.ExhaustedAlert, LastResetAt: resource.StampOf(&m.LastReset),
	}
}

// ViewTerms shows a budget with the time of its next reset; nil for none.
func ViewTerms(b *quota.Budget, next *time.Time) BudgetTerms {
	measure := b.Measure
	if b.ImpliedType {
		measure = ""
	}
	return BudgetTerms{
		Type: measure, CreditLimit: jsonfield.Number(b.CreditLimit.String()), AlertThreshold: AmountOrNull(b.AlertThreshold), Mode: b.Mode.Shown(),
		Every: jsonfield.OrNull(b.Every), Days: jsonfield.OrNil(b.Days), NextUsageResetAt: resource.StampOf(next),
	}
}

// StatusOf returns the status of a budget as calls see it. It is exhausted as soon as its usage
// reaches the limit, whether or not a job has recorded that.
func StatusOf(m quota.Meter) string {
	if m.Exhausted || m.Limit > 0 && m.Used >= m.Limit {
		return Exhausted
	}
	return resource.Active
}

// AmountOrNull shows an amount; nil for nil.
func AmountOrNull(a *quota.Amount) *jsonfield.Number {
	if a == nil {
		return nil
	}
	n := jsonfield.Number(a.String())
	return &n
}

// Shown are the limits of a subject as clients see them.
type Shown struct {
	Budgets   []BudgetView
	Rates     []quota.Rate
	LastReset *resource.Stamp // the latest one
	NextReset *resource.Stamp // the earliest one
}

// Show reads the meters of a subject that has budgets.
func (k Limits) Show(ctx context.Context, c *resource.Call, subject quota.Subject, budgets, rates json.RawMessage) (Shown, error) {
	if len(budgets) == 0 {
		return ShowWith(nil, nil, rates)
	}
	meters, err := k.MetersOf(ctx, c.Reader, subject)
	if err != nil {
		return Shown{}, err
	}
	return ShowWith(meters, budgets, rates)
}

// ShowWith shows stored limits with their usage; meters are by the ids of the budgets.
func ShowWith(meters map[string]quota.Meter, budgets, rates json.RawMessage) (s Shown, err error) {
	if s.Rates, err = DecodeRates(rates); err != nil {
		return s, err
	}
	list, err := Decode(budgets)
	if err != nil {
		return s, err
	}
	var last, next time.Time
	for i := range list {
		m := meters[list[i].ID]
		s.Budgets = append(s.Budgets, viewBudget(&list[i], m))
		if m.LastReset.After(last) {
			last = m.LastReset
		}
		if !m.NextReset.IsZero() && (next.IsZero() || m.NextReset.Before(next)) {
			next = m.NextReset
		}
	}
	s.LastReset, s.NextReset = resource.StampOf(&last), resource.StampOf(&next)
	return s, nil
}

// Status returns the status of a subject as calls see it: an active subject with an exhausted
// budget is exhausted too.
func (s Shown) Status(stored string) string {
	if stored == resource.Active && slices.ContainsFunc(s.Budgets, func(b BudgetView) bool { return b.Status == Exhausted }) {
		return Exhausted
	}
	return stored
}

// One returns the budget of a subject that has at most one. If the expiry was recorded, people
// were notified of it.
func (s Shown) One(expires *time.Time, status string) jsonfield.Nullable[BudgetView] {
	if len(s.Budgets) == 0 {
		return jsonfield.Nullable[BudgetView]{}
	}
	b := s.Budgets[0]
	if expires != nil {
		alertSent := status == "expired"
		b.ExpiredAlert = &alertSent
	}
	return jsonfield.Nullable[BudgetView]{Object: &b}
}
