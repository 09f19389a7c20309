package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"sluice/internal/credential"
	"sluice/internal/fault"
	"sluice/internal/keys"
	"sluice/internal/quota"
	"sluice/internal/resource"
	"sluice/internal/tenant"
)

// Meters keeps what was used of budgets: *store.Store. Reads through the transaction of
// a change hold what they read until its end.
type Meters interface {
	Meters(ctx context.Context, from resource.Reader, q quota.MeterQuery) ([]quota.Meter, error)
	CountMeters(ctx context.Context, from resource.Reader, q quota.MeterQuery) (int, error)
	AddMeter(ctx context.Context, tx resource.Tx, m quota.Meter) error
	SaveMeter(ctx context.Context, tx resource.Tx, m quota.Meter) error
	DropMeters(ctx context.Context, tx resource.Tx, subjectID, workspaceID string, entries ...string) error
	MeterSets
}

// MeterSets changes all meters of a policy at once.
type MeterSets interface {
	RetuneMeters(ctx context.Context, tx resource.Tx, before, head quota.Meter) error
	ResetMeters(ctx context.Context, tx resource.Tx, subjectID string, now time.Time) error
}

// limitFields are the fields of bodies that stand for limits; the engine leaves them to
// applyLimits.
var limitFields = []string{"usage_limits", "rate_limits", "reset_usage"}

// limitForm says how the records of a kind carry limits.
// Source: contract/identity-and-governance.yaml, UsageLimit.used_as.
type limitForm[T any] struct {
	fields func(*T) (budgets, rates *json.RawMessage)
	many   bool // budgets are a list, else one object
}

var (
	keyLimits      = limitForm[keys.Key]{fields: func(k *keys.Key) (b, r *json.RawMessage) { return &k.UsageLimits, &k.RateLimits }}
	providerLimits = limitForm[credential.Provider]{fields: func(p *credential.Provider) (b, r *json.RawMessage) {
		return &p.UsageLimits, &p.RateLimits
	}}
	virtualKeyLimits = limitForm[credential.VirtualKey]{fields: func(v *credential.VirtualKey) (b, r *json.RawMessage) {
		return &v.UsageLimits, &v.RateLimits
	}}
	workspaceLimits = limitForm[tenant.Workspace]{many: true, fields: func(w *tenant.Workspace) (b, r *json.RawMessage) {
		return &w.UsageLimits, &w.RateLimits
	}}
)

// The longest lists of limits of one carrier: a rate for each type and unit.
const (
	maxBudgets = 20
	maxRates   = 8
)

// budgetsOf are the budgets that a stored field holds.
func budgetsOf(raw json.RawMessage) (quota.Budgets, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var list quota.Budgets
	err := json.Unmarshal(raw, &list)
	return list, err
}

// ratesOf are the rates that a stored field holds.
func ratesOf(raw json.RawMessage) ([]quota.Rate, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var list []quota.Rate
	err := json.Unmarshal(raw, &list)
	return list, err
}

// readRates reads the rates that take the place of others, into their stored form:
// nothing for none.
func readRates(raw json.RawMessage, path string, maxItems int) (json.RawMessage, error) {
	list, err := quota.ReadRates(raw, path, maxItems)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return encode(list), nil
}

// storedBudgets is the stored form of budgets: nothing for none.
func storedBudgets(list []quota.Budget, many bool) json.RawMessage {
	switch {
	case len(list) == 0:
		return nil
	case many:
		return encode(list)
	}
	return encode(list[0])
}

// applyLimits puts the limits that were sent into a record. One that is exhausted becomes
// active when a budget was raised, replaced, taken away or reset.
func applyLimits[T any](k deps, c *resource.Call, ch *resource.Edit[T], form limitForm[T]) error {
	budgets, rates := form.fields(&ch.New.Value)
	if raw, sent := ch.Sent["rate_limits"]; sent {
		list, err := readRates(raw, "rate_limits", maxRates)
		if err != nil {
			return err
		}
		*rates = list
	}
	before, err := budgetsOf(*budgets)
	if err != nil {
		return err
	}
	if _, sent := ch.Sent["usage_limits"]; !sent {
		if resets(ch.Sent) {
			reopen(&ch.New.Record)
		}
		return nil
	}
	rules := quota.Rules{Field: "usage_limits"}
	if form.many {
		rules.MaxItems = maxBudgets
	}
	list, err := k.readBudgets(c, ch.Sent["usage_limits"], rules, before)
	if err != nil {
		return err
	}
	*budgets = storedBudgets(list, form.many)
	if resets(ch.Sent) || opened(before, list) {
		reopen(&ch.New.Record)
	}
	return nil
}

// readBudgets reads the budgets that take the place of others.
func (k deps) readBudgets(c *resource.Call, raw json.RawMessage, rules quota.Rules, before []quota.Budget) ([]quota.Budget, error) {
	list, err := quota.ReadBudgets(raw, rules)
	if err != nil {
		return nil, err
	}
	if enabled, set := k.Features[featureBudgets]; set && !enabled && len(list) > 0 {
		return nil, fault.Newf(fault.FeatureOff, "disabled on this deployment (%s)", featureBudgets).WithParam(rules.Field)
	}
	for i, b := range list {
		path := rules.Field + "."
		if rules.MaxItems > 1 || len(raw) > 0 && raw[0] == '[' {
			path = fmt.Sprintf("%s[%d].", rules.Field, i)
		}
		if resent(before, &b) {
			continue
		}
		if err := b.ValidateNextReset(c.Now, path); err != nil {
			return nil, err
		}
	}
	quota.InheritIDs(list, before)
	return list, nil
}

// resent reports whether a budget names the next reset that one of its measure and period has
// already: it was read back, or comes from a file, and may be over by now.
func resent(before []quota.Budget, b *quota.Budget) bool {
	return slices.ContainsFunc(before, func(old quota.Budget) bool {
		return old.Measure == b.Measure && old.Same(b.Period) && old.NextResetAt != nil && b.NextResetAt != nil && old.NextResetAt.Equal(*b.NextResetAt)
	})
}

// featureBudgets is the flag whose OFF refuses budgets.
const featureBudgets = "USAGE_LIMITS_ENABLED"

// resets reports whether the usage of all budgets is to begin anew.
func resets(sent resource.Sent) bool { return string(sent["reset_usage"]) == "true" }

// opened reports whether what was used up is so no more: each budget of before was
// raised, or is gone.
func opened(before, after []quota.Budget) bool {
	for _, old := range before {
		for _, b := range after {
			if b.ID == old.ID && b.Limit() <= old.Limit() {
				return false
			}
		}
	}
	return true
}

// reopen makes an exhausted record active.
func reopen(r *resource.Record) {
	if r.Status == exhausted {
		r.Status = resource.Active
	}
}

// exhausted is the status of a carrier whose budget is used up.
const exhausted = "exhausted"

// meterLimits keeps the meters of a record in step with its budgets; it is called After
// each of its changes.
func meterLimits[T any](ctx context.Context, k deps, tx resource.Tx, c *resource.Call, ch *resource.Edit[T], form limitForm[T]) error {
	if ch.New.Status == resource.Archived {
		return k.Meters.DropMeters(ctx, tx, ch.New.ID, "")
	}
	raw, _ := form.fields(&ch.New.Value)
	after, err := budgetsOf(*raw)
	if err != nil {
		return err
	}
	var before []quota.Budget
	_, sent := ch.Sent["usage_limits"]
	if ch.Old != nil && ch.Old.Status == resource.Archived {
		sent = true // its meters went when it was archived
	} else if ch.Old != nil {
		raw, _ := form.fields(&ch.Old.Value)
		if before, err = budgetsOf(*raw); err != nil {
			return err
		}
	}
	workspaceID := ch.New.WorkspaceID
	if ch.New.Kind == tenant.WorkspaceKind {
		workspaceID = ch.New.ID
	}
	subject := quota.Subject{Kind: ch.New.Kind, ID: ch.New.ID, OrgID: ch.New.OrgID, WorkspaceID: workspaceID}
	return k.meter(ctx, tx, c.Now, subject, meterChange{before, after, sent, resets(ch.Sent)})
}

// meterChange is what a change means for the meters of a carrier.
type meterChange struct {
	before, after []quota.Budget
	sent          bool // after was sent, else it is before
	reset         bool
}

// none reports whether nothing changes.
func (ch meterChange) none() bool { return !ch.sent && !ch.reset }
