package limits

import (
	"context"
	"time"

	"sluice/internal/control/budgets"
	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
)

// usageLimits are the usage-limit policies: what the callers that a policy applies to may use in
// total or until the next reset, counted for each value key. Counters are meters; the head meter
// has the policy's limit and schedule.
// Source: contract/identity-and-governance.yaml, usage-limit policies; .md section 8.
func (k usageLimits) usageLimits() resource.Resource {
	return &resource.Kind[quota.UsageLimit, usageLimitView]{
		Name: quota.UsageLimitKind, Object: "policy_usage_limits", Title: "usage-limit policy",
		Tag: "Policies", Audited: "policies", Feature: "POLICY_ENABLED",
		Path: "/policies/usage-limits", Param: "policyUsageLimitsId", ByID: true,
		Perm: "policies", Verbs: resource.AllVerbs, Scope: resource.InWorkspace, Archived: true, Restorable: true,
		Create: usageLimitIn{}, Update: usageLimitPatch{}, PreparedFields: []string{resetValue},
		Filters: []resource.Filter{{Param: resource.Param{Name: "type", Enum: []string{"cost", "tokens", "requests"}}, Index: "type"}},
		Views:   []resource.Param{{Name: "include_usage", Type: "boolean", Default: "false", Doc: "true adds value_key_usage_map with the 1000 most used value keys"}},
		Prepare: k.prepareUsageLimit,
		Index: func(r *resource.Row[quota.UsageLimit]) []resource.IndexEntry {
			return []resource.IndexEntry{{Name: "type", Value: string(r.Value.Measure)}}
		},
		After:   k.meterPolicy,
		View:    k.viewUsageLimit,
		Actions: k.usageEntities(),
	}
}

// resetValue is the field that names a value key whose counter is to be reset.
const resetValue = "reset_usage_for_value"

// usageLimitIn is the body of a creation.
type usageLimitIn struct {
	PolicyIn
	Type              string     `json:"type" enum:"cost,tokens,requests" doc:"Measure of the limit; cost is in US dollars"`
	CreditLimit       float64    `json:"credit_limit" minimum:"0" doc:"At least 1 dollar, 100 tokens or 1 request"`
	AlertThreshold    *float64   `json:"alert_threshold,omitempty" nullable:"true" minimum:"0" doc:"Less than credit_limit; recorded in the audit trail when reached"`
	Mode              string     `json:"mode,omitempty" enum:"strict,soft" default:"strict" doc:"strict rejects a call that might exceed the limit, including reservations of running calls; soft rejects only once the limit is reached, so running calls may exceed it"`
	PeriodicReset     *string    `json:"periodic_reset,omitempty" nullable:"true" enum:"weekly,monthly" doc:"Reset on Mondays or the 1st, at 00:00 UTC; not together with periodic_reset_days"`
	PeriodicResetDays *int       `json:"periodic_reset_days,omitempty" nullable:"true" minimum:"1" maximum:"365"`
	NextUsageResetAt  *time.Time `json:"next_usage_reset_at,omitempty" nullable:"true" doc:"Next reset, at 00:00 UTC of that day; computed when absent"`
}

// usageLimitPatch is the body of an update: type and group_by cannot change.
type usageLimitPatch struct {
	PolicyPatch
	CreditLimit       float64    `json:"credit_limit,omitempty" minimum:"0"`
	AlertThreshold    *float64   `json:"alert_threshold,omitempty" nullable:"true" minimum:"0"`
	Mode              string     `json:"mode,omitempty" enum:"strict,soft"`
	PeriodicReset     *string    `json:"periodic_reset,omitempty" nullable:"true" enum:"weekly,monthly" doc:"Replaces periodic_reset_days"`
	PeriodicResetDays *int       `json:"periodic_reset_days,omitempty" nullable:"true" minimum:"1" maximum:"365" doc:"Replaces periodic_reset"`
	NextUsageResetAt  *time.Time `json:"next_usage_reset_at,omitempty" nullable:"true"`
	ResetValue        string     `json:"reset_usage_for_value,omitempty" writeOnly:"true" minLength:"1" maxLength:"8192" doc:"Value key whose usage is reset"`
}

// prepareUsageLimit replaces one type of period with the other, and drops a requested next reset
// if the period changes.
func (k usageLimits) prepareUsageLimit(ctx context.Context, c *resource.Call, ch *resource.Edit[quota.UsageLimit]) error {
	var before []quota.Condition
	if ch.Old != nil {
		before = ch.Old.Value.Conditions
	}
	if err := policies(k).checkConditions(ctx, c, ch.New.Record, ch.Sent, before, ch.New.Value.Conditions); err != nil {
		return err
	}
	p := &ch.New.Value
	switch every, days := ch.Sent.Has("periodic_reset"), ch.Sent.Has("periodic_reset_days"); {
	case every && !days:
		p.Days = 0
	case days && !every:
		p.Every = ""
	}
	if ch.Sent.Has("next_usage_reset_at") {
		day := p.Period.Day()
		if p.Period = day; ch.Old != nil && budgets.Resent([]quota.Budget{ch.Old.Value.Budget}, &p.Budget) {
			return nil
		}
		return day.ValidateNextReset(c.Now, "")
	}
	if ch.Old != nil && !p.Same(ch.Old.Value.Period) {
		p.NextResetAt = nil
	}
	return nil
}

// meterPolicy updates the meters of a policy to match it.
func (k usageLimits) meterPolicy(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[quota.UsageLimit]) error {
	b := &ch.New.Value.Budget
	subject := quota.Subject{Kind: quota.UsageLimitKind, ID: ch.New.ID, OrgID: ch.New.OrgID, WorkspaceID: ch.New.WorkspaceID}
	switch {
	case ch.New.Status == resource.Archived:
		return k.Meters.DropMeters(ctx, tx, subject.ID, "")
	case ch.Old == nil, ch.Old.Status == resource.Archived: // earlier usage does not count
		return k.Meters.AddMeter(ctx, tx, budgets.NewMeter(subject, b, c.Now))
	}
	head, err := k.headOf(ctx, tx, subject.ID)
	if err != nil {
		return err
	}
	before := head
	_, isSent := ch.Sent["next_usage_reset_at"]
	if err := k.Budgets.Retune(ctx, tx, &head, b, &ch.Old.Value.Budget, isSent || !b.Same(ch.Old.Value.Period), c.Now); err != nil {
		return err
	}
	if err := k.Meters.SaveMeter(ctx, tx, head); err != nil {
		return err
	}
	if err := k.Meters.RetuneMeters(ctx, tx, before, head); err != nil {
		return err
	}
	if key := ch.Sent.Text(resetValue); key != "" {
		return k.resetCounter(ctx, tx, subject.ID, quota.EntryOf(key), c.Now, fault.New(fault.ReferenceMissing, "the policy does not have a counter for this value key").WithParam(resetValue))
	}
	return nil
}

// headOf returns the meter that has the limit and the schedule of a policy.
func (k usageLimits) headOf(ctx context.Context, from resource.Reader, id string) (quota.Meter, error) {
	list, err := k.Meters.Meters(ctx, from, quota.MeterQuery{SubjectID: id, Limit: 1}) // the head meter comes first in order
	if err != nil {
		return quota.Meter{}, err
	}
	if len(list) == 0 || list[0].BudgetKey != "" {
		return quota.Meter{}, fault.New(fault.NotFound, "the usage-limit policy does not exist")
	}
	return list[0], nil
}

// resetCounter resets one counter of a policy; missing is the error if there is none.
func (k usageLimits) resetCounter(ctx context.Context, tx resource.Tx, id, entry string, now time.Time, missing error) error {
	list, err := k.Meters.Meters(ctx, tx, quota.MeterQuery{SubjectID: id, Entries: []string{entry}, Counters: true})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return missing
	}
	list[0].Reset(now)
	return k.Meters.SaveMeter(ctx, tx, list[0])
}
