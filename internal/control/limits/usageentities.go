package limits

import (
	"context"
	"net/http"

	"sluice/internal/control/budgets"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
)

// usageLimitView is a policy as clients see it.
type usageLimitView struct {
	PolicyView
	Type             quota.Measure            `json:"type" enum:"cost,tokens,requests"`
	CreditLimit      jsonfield.Number         `json:"credit_limit"`
	AlertThreshold   *jsonfield.Number        `json:"alert_threshold" nullable:"true"`
	Mode             quota.Mode               `json:"mode" enum:"strict,soft"`
	Every            *string                  `json:"periodic_reset" nullable:"true" enum:"weekly,monthly"`
	Days             *int                     `json:"periodic_reset_days" nullable:"true"`
	NextUsageResetAt *resource.Stamp          `json:"next_usage_reset_at" nullable:"true"`
	LastResetAt      *resource.Stamp          `json:"last_reset_at" nullable:"true" doc:"Time of the last reset of all value keys"`
	Usage            map[string]valueUsedView `json:"value_key_usage_map,omitempty"`
	Object           string                   `json:"object" enum:"policy_usage_limits"`
}

// valueUsedView is the usage under one value key.
type valueUsedView struct {
	CurrentUsage   jsonfield.Number `json:"current_usage"`
	Status         string           `json:"status" enum:"active,exhausted"`
	ThresholdAlert bool             `json:"is_threshold_alerts_sent"`
	ExhaustedAlert bool             `json:"is_exhausted_alerts_sent"`
}

// entityView is a counter of a policy.
type entityView struct {
	ID           string           `json:"id"`
	ValueKey     string           `json:"value_key" doc:"Value key, for example metadata._user:alice"`
	CurrentUsage jsonfield.Number `json:"current_usage"`
	Status       string           `json:"status" enum:"active,exhausted"`
	LastResetAt  *resource.Stamp  `json:"last_reset_at" nullable:"true"`
}

// maxUsageMap limits the value keys of one response; the list of entities has all.
const maxUsageMap = 1000

func (k usageLimits) viewUsageLimit(ctx context.Context, c *resource.Call, r resource.Row[quota.UsageLimit], detail bool) (usageLimitView, error) {
	p := r.Value
	v := usageLimitView{
		PolicyView: viewPolicy(r.Record, p.Name, p.Description, p.Conditions, p.GroupBy), Type: p.Measure, CreditLimit: jsonfield.Number(p.CreditLimit.String()),
		AlertThreshold: budgets.AmountOrNull(p.AlertThreshold), Mode: p.Mode.Shown(), Every: jsonfield.OrNull(p.Every), Days: jsonfield.OrNil(p.Days), Object: "policy_usage_limits",
	}
	if r.Status == resource.Archived {
		return v, nil // its counter does not exist any more
	}
	head, err := k.headOf(ctx, c.Reader, r.ID)
	if err != nil {
		return v, err
	}
	v.NextUsageResetAt, v.LastResetAt = resource.StampOf(&head.NextReset), resource.StampOf(&head.LastReset)
	if !detail || c.Query("include_usage") != "true" {
		return v, nil
	}
	list, err := k.Meters.Meters(ctx, c.Reader, quota.MeterQuery{SubjectID: r.ID, Counters: true, SortByUsage: true, Limit: maxUsageMap})
	v.Usage = make(map[string]valueUsedView, len(list))
	for _, m := range list {
		v.Usage[m.ValueKey] = valueUsedView{jsonfield.Number(p.Measure.Text(m.Used)), budgets.StatusOf(m), m.ThresholdAlert, m.ExhaustedAlert}
	}
	return v, err
}

// usageEntities read and reset the counters of a policy.
func (k usageLimits) usageEntities() []resource.Action[quota.UsageLimit] {
	return []resource.Action[quota.UsageLimit]{
		{
			Name: "read", Method: http.MethodGet, Path: "/entities", ID: "listUsageLimitEntities", Summary: "List the usage of a usage-limit policy",
			Query: []resource.Param{
				{Name: "status", Enum: []string{"active", "exhausted"}}, {Name: "search", Doc: "part of the value key"},
				{Name: "page_size", Type: "integer", Default: "50", Min: 1, Max: 100}, {Name: "current_page", Type: "integer", Default: "0", Max: 1_000_000},
			},
			Response: resource.ListOf[entityView]{}, Read: k.listEntities,
		},
		{
			Name: "reset", Scope: "update", Method: http.MethodPut, Path: "/entities/{entityId}/reset", ID: "resetUsageLimitEntity",
			Summary: "Reset one counter of a usage-limit policy", Params: []resource.Param{{Name: "entityId"}},
			Run: func(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[quota.UsageLimit]) (any, error) {
				missing := fault.New(fault.NotFound, "the policy does not have this entity").WithParam("entityId")
				c.Note("entity_id", c.Path("entityId"))
				return resource.Empty{}, k.resetCounter(ctx, tx, ch.New.ID, c.Path("entityId"), c.Now, missing)
			},
		},
	}
}

func (k usageLimits) listEntities(ctx context.Context, c *resource.Call, r resource.Row[quota.UsageLimit]) (any, error) {
	q := quota.MeterQuery{SubjectID: r.ID, Counters: true, SortByUsage: true, Search: c.Query("search"), Limit: c.Int("page_size")}
	q.Offset = c.Int("current_page") * q.Limit
	if s := c.Query("status"); s != "" {
		is := s == budgets.Exhausted
		q.Exhausted = &is
	}
	total, err := k.Meters.CountMeters(ctx, c.Reader, q)
	if err != nil {
		return nil, err
	}
	list, err := k.Meters.Meters(ctx, c.Reader, q)
	if err != nil {
		return nil, err
	}
	out := resource.ListOf[entityView]{Object: "list", Total: total, Data: make([]entityView, len(list))}
	for i, m := range list {
		out.Data[i] = entityView{m.BudgetKey, m.ValueKey, jsonfield.Number(r.Value.Measure.Text(m.Used)), budgets.StatusOf(m), resource.StampOf(&m.LastReset)}
	}
	return out, nil
}
