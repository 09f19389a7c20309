package admin

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/quota"
	"sluice/internal/resource"
)

// budgetIn is a budget in a body. quota.ReadBudgets checks the rules that a schema cannot
// express.
type budgetIn struct {
	Type              string     `json:"type,omitempty" enum:"cost,tokens" default:"cost" doc:"Measure of the limit; cost is in US dollars"`
	CreditLimit       float64    `json:"credit_limit" minimum:"1" doc:"Amount that may be used, with at most 6 decimals"`
	AlertThreshold    *float64   `json:"alert_threshold,omitempty" nullable:"true" minimum:"1" doc:"Less than credit_limit; an email is sent when usage reaches it"`
	Mode              string     `json:"mode,omitempty" enum:"strict,soft" default:"strict" doc:"strict rejects a call that might exceed the limit, including reservations of running calls; soft rejects only once the limit is reached, so running calls may exceed it"`
	PeriodicReset     *string    `json:"periodic_reset,omitempty" nullable:"true" enum:"weekly,monthly" doc:"Reset on Mondays or the 1st, at 00:00 UTC; not together with periodic_reset_days"`
	PeriodicResetDays *int       `json:"periodic_reset_days,omitempty" nullable:"true" minimum:"1" maximum:"365"`
	NextUsageResetAt  *time.Time `json:"next_usage_reset_at,omitempty" nullable:"true" doc:"Next reset, at 00:00 UTC of that day; computed when absent"`
}

// rateIn is a rate in a body.
type rateIn struct {
	Type  string `json:"type" enum:"requests,tokens" doc:"Measure of the limit"`
	Unit  string `json:"unit" enum:"rpm,rph,rpd,rpw" doc:"Window: minute, hour, day or week, in UTC"`
	Value int64  `json:"value" minimum:"0" maximum:"1000000000000" doc:"Maximum in a window"`
}

// BudgetTerms is a budget as it was set, without its usage.
type BudgetTerms struct {
	Type             quota.Measure   `json:"type,omitempty" enum:"cost,tokens" doc:"Absent when it was not sent, which means cost"`
	CreditLimit      number          `json:"credit_limit"`
	AlertThreshold   *number         `json:"alert_threshold" nullable:"true"`
	Mode             quota.Mode      `json:"mode" enum:"strict,soft"`
	Every            *string         `json:"periodic_reset" nullable:"true" enum:"weekly,monthly"`
	Days             *int            `json:"periodic_reset_days" nullable:"true"`
	NextUsageResetAt *resource.Stamp `json:"next_usage_reset_at" nullable:"true"`
}

// budgetView is a budget with its usage.
type budgetView struct {
	ID string `json:"id" format:"uuid"`
	BudgetTerms
	Status         string          `json:"status" enum:"active,exhausted"`
	CurrentUsage   number          `json:"current_usage" doc:"Usage in the unit of credit_limit"`
	ThresholdAlert bool            `json:"is_threshold_alerts_sent"`
	ExhaustedAlert bool            `json:"is_exhausted_alerts_sent"`
	ExpiredAlert   *bool           `json:"is_expired_alerts_sent,omitempty" doc:"Only for resources with an expiry"`
	LastResetAt    *resource.Stamp `json:"last_reset_at" nullable:"true"`
}

// number is a decimal number that has never been a float.
type number string

// Schema describes number.
func (number) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeNumber} }

// MarshalJSON writes the number unchanged.
func (n number) MarshalJSON() ([]byte, error) { return []byte(n), nil }

func viewBudget(b *quota.Budget, m quota.Meter) budgetView {
	return budgetView{
		ID: b.ID, BudgetTerms: viewTerms(b, &m.NextReset), Status: statusOf(m), CurrentUsage: number(b.Measure.Text(m.Used)),
		ThresholdAlert: m.ThresholdAlert, ExhaustedAlert: m.ExhaustedAlert, LastResetAt: resource.StampOf(&m.LastReset),
	}
}

func viewTerms(b *quota.Budget, next *time.Time) BudgetTerms {
	measure := b.Measure
	if b.ImpliedType {
		measure = ""
	}
	return BudgetTerms{
		Type: measure, CreditLimit: number(b.CreditLimit.String()), AlertThreshold: amountOrNull(b.AlertThreshold), Mode: b.Mode.Shown(),
		Every: orNull(b.Every), Days: orNil(b.Days), NextUsageResetAt: resource.StampOf(next),
	}
}

// statusOf returns the status of a budget as calls see it. It is exhausted as soon as its usage
// reaches the limit, whether or not a job has recorded that.
func statusOf(m quota.Meter) string {
	if m.Exhausted || m.Limit > 0 && m.Used >= m.Limit {
		return exhausted
	}
	return resource.Active
}

func amountOrNull(a *quota.Amount) *number {
	if a == nil {
		return nil
	}
	n := number(a.String())
	return &n
}

// orNil returns nil for 0.
func orNil(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// limitsShown are the limits of a subject as clients see them.
type limitsShown struct {
	budgets   []budgetView
	rates     []quota.Rate
	lastReset *resource.Stamp // the latest one
	nextReset *resource.Stamp // the earliest one
}

// showLimits reads the meters of a subject that has budgets.
func (k deps) showLimits(ctx context.Context, c *resource.Call, subject quota.Subject, budgets, rates json.RawMessage) (limitsShown, error) {
	if len(budgets) == 0 {
		return limitsOn(nil, nil, rates)
	}
	meters, err := k.metersOf(ctx, c.Reader, subject)
	if err != nil {
		return limitsShown{}, err
	}
	return limitsOn(meters, budgets, rates)
}

// limitsOn shows stored limits with their usage; meters are by the ids of the budgets.
func limitsOn(meters map[string]quota.Meter, budgets, rates json.RawMessage) (s limitsShown, err error) {
	if s.rates, err = ratesOf(rates); err != nil {
		return s, err
	}
	list, err := budgetsOf(budgets)
	if err != nil {
		return s, err
	}
	var last, next time.Time
	for i := range list {
		m := meters[list[i].ID]
		s.budgets = append(s.budgets, viewBudget(&list[i], m))
		if m.LastReset.After(last) {
			last = m.LastReset
		}
		if !m.NextReset.IsZero() && (next.IsZero() || m.NextReset.Before(next)) {
			next = m.NextReset
		}
	}
	s.lastReset, s.nextReset = resource.StampOf(&last), resource.StampOf(&next)
	return s, nil
}

// status returns the status of a subject as calls see it: an active subject with an exhausted
// budget is exhausted too.
func (s limitsShown) status(stored string) string {
	if stored == resource.Active && slices.ContainsFunc(s.budgets, func(b budgetView) bool { return b.Status == exhausted }) {
		return exhausted
	}
	return stored
}

// one returns the budget of a subject that has at most one. If the expiry was recorded, people
// were notified of it.
func (s limitsShown) one(expires *time.Time, status string) nullable[budgetView] {
	if len(s.budgets) == 0 {
		return nullable[budgetView]{}
	}
	b := s.budgets[0]
	if expires != nil {
		alertSent := status == "expired"
		b.ExpiredAlert = &alertSent
	}
	return nullable[budgetView]{&b}
}
