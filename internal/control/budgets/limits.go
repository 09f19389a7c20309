package budgets

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
)

// Meters stores the usage of budgets: *sqlstore.Store. Reads through the transaction of a change
// lock the meters until the transaction ends.
type Meters interface {
	Meters(ctx context.Context, from resource.Reader, q quota.MeterQuery) ([]quota.Meter, error)
	CountMeters(ctx context.Context, from resource.Reader, q quota.MeterQuery) (int, error)
	AddMeter(ctx context.Context, tx resource.Tx, m quota.Meter) error
	SaveMeter(ctx context.Context, tx resource.Tx, m quota.Meter) error
	DropMeters(ctx context.Context, tx resource.Tx, subjectID, workspaceID string, entries ...string) error
	MeterSets
}

// MeterSets changes all meters of a policy in one call.
type MeterSets interface {
	RetuneMeters(ctx context.Context, tx resource.Tx, before, head quota.Meter) error
	ResetMeters(ctx context.Context, tx resource.Tx, subjectID string, now time.Time) error
}

// Limits reads and changes the budgets and rates of records, and the meters of the budgets.
type Limits struct {
	Meters   Meters
	Features map[string]bool // deployment flags by name; USAGE_LIMITS_ENABLED disables budgets when it is off
}

// Fields lists the fields of request bodies that set limits. The engine does not process
// them; Apply does.
var Fields = []string{"usage_limits", "rate_limits", "reset_usage"}

// Form describes where the records of a kind store their limits.
// Source: contract/identity-and-governance.yaml, UsageLimit.used_as.
type Form[T any] struct {
	fields func(*T) (budgets, rates *json.RawMessage)
	many   bool // budgets are stored as a list, otherwise as one object
}

// The places of budgets and rate limits in the bodies of keys, providers, virtual keys and workspaces.
var (
	KeyLimits      = Form[keys.Key]{fields: func(k *keys.Key) (b, r *json.RawMessage) { return &k.UsageLimits, &k.RateLimits }}
	ProviderLimits = Form[credential.Provider]{fields: func(p *credential.Provider) (b, r *json.RawMessage) {
		return &p.UsageLimits, &p.RateLimits
	}}
	VirtualKeyLimits = Form[credential.VirtualKey]{fields: func(v *credential.VirtualKey) (b, r *json.RawMessage) {
		return &v.UsageLimits, &v.RateLimits
	}}
	WorkspaceLimits = Form[tenant.Workspace]{many: true, fields: func(w *tenant.Workspace) (b, r *json.RawMessage) {
		return &w.UsageLimits, &w.RateLimits
	}}
)

// Maximum numbers of limits of one subject. maxRates allows one rate per type and unit.
const (
	maxBudgets = 20
	maxRates   = 8
)

// Decode decodes the budgets in a stored field. An empty field has none.
func Decode(raw json.RawMessage) (quota.Budgets, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var list quota.Budgets
	err := json.Unmarshal(raw, &list)
	return list, err
}

// DecodeRates decodes the rates in a stored field. An empty field has none.
func DecodeRates(raw json.RawMessage) ([]quota.Rate, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var list []quota.Rate
	err := json.Unmarshal(raw, &list)
	return list, err
}

// ReadRates parses new rates and returns their stored form, nil for an empty list. Errors name
// path.
func ReadRates(raw json.RawMessage, path string, maxItems int) (json.RawMessage, error) {
	list, err := quota.ReadRates(raw, path, maxItems)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return jsonfield.Encode(list), nil
}

// Encode returns the stored form of budgets, nil for an empty list.
func Encode(list []quota.Budget, many bool) json.RawMessage {
	switch {
	case len(list) == 0:
		return nil
	case many:
		return jsonfield.Encode(list)
	}
	return jsonfield.Encode(list[0])
}

// Apply sets the sent limits on a record. An exhausted record becomes active if its
// budgets were raised, replaced, removed or reset.
func Apply[T any](k Limits, c *resource.Call, ch *resource.Edit[T], form Form[T]) error {
	budgets, rates := form.fields(&ch.New.Value)
	if raw, sent := ch.Sent["rate_limits"]; sent {
		list, err := ReadRates(raw, "rate_limits", maxRates)
		if err != nil {
			return err
		}
		*rates = list
	}
	before, err := Decode(*budgets)
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
	list, err := k.ReadBudgets(c, ch.Sent["usage_limits"], rules, before)
	if err != nil {
		return err
	}
	*budgets = Encode(list, form.many)
	if resets(ch.Sent) || opened(before, list) {
		reopen(&ch.New.Record)
	}
	return nil
}

// ReadBudgets parses new budgets. A budget that matches one of before inherits its id. It
// returns fault.FeatureOff if the deployment disables budgets.
func (k Limits) ReadBudgets(c *resource.Call, raw json.RawMessage, rules quota.Rules, before []quota.Budget) ([]quota.Budget, error) {
	list, err := quota.ReadBudgets(raw, rules)
	if err != nil {
		return nil, err
	}
	if enabled, set := k.Features[FeatureBudgets]; set && !enabled && len(list) > 0 {
		return nil, fault.Newf(fault.FeatureOff, "disabled on this deployment (%s)", FeatureBudgets).WithParam(rules.Field)
	}
	for i, b := range list {
		path := rules.Field + "."
		if rules.MaxItems > 1 || len(raw) > 0 && raw[0] == '[' {
			path = fmt.Sprintf("%s[%d].", rules.Field, i)
		}
		if Resent(before, &b) {
			continue
		}
		if err := b.ValidateNextReset(c.Now, path); err != nil {
			return nil, err
		}
	}
	quota.InheritIDs(list, before)
	return list, nil
}

// Resent reports whether a budget of the same measure and period already has the next reset of
// b. Then b was read from a response or a file, and its next reset may be in the past.
func Resent(before []quota.Budget, b *quota.Budget) bool {
	return slices.ContainsFunc(before, func(old quota.Budget) bool {
		return old.Measure == b.Measure && old.Same(b.Period) && old.NextResetAt != nil && b.NextResetAt != nil && old.NextResetAt.Equal(*b.NextResetAt)
	})
}

// FeatureBudgets is the feature flag that disables budgets when it is off.
const FeatureBudgets = "USAGE_LIMITS_ENABLED"

// resets reports whether the body requests a reset of the usage of all budgets.
func resets(sent resource.Sent) bool { return string(sent["reset_usage"]) == "true" }

// opened reports whether each budget of before was raised or removed, so that the record is no
// longer exhausted.
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

// reopen sets an exhausted record to active.
func reopen(r *resource.Record) {
	if r.Status == Exhausted {
		r.Status = resource.Active
	}
}

// Exhausted is the status of a subject whose budget is used up.
const Exhausted = "exhausted"

// UpdateMeters updates the meters of a record to match its budgets. It is called in After, after
// each change of the record. For an archived record it deletes the meters.
func UpdateMeters[T any](ctx context.Context, k Limits, tx resource.Tx, c *resource.Call, ch *resource.Edit[T], form Form[T]) error {
	if ch.New.Status == resource.Archived {
		return k.Meters.DropMeters(ctx, tx, ch.New.ID, "")
	}
	raw, _ := form.fields(&ch.New.Value)
	after, err := Decode(*raw)
	if err != nil {
		return err
	}
	var before []quota.Budget
	_, sent := ch.Sent["usage_limits"]
	if ch.Old != nil && ch.Old.Status == resource.Archived {
		sent = true // archiving the record deleted its meters
	} else if ch.Old != nil {
		raw, _ := form.fields(&ch.Old.Value)
		if before, err = Decode(*raw); err != nil {
			return err
		}
	}
	workspaceID := ch.New.WorkspaceID
	if ch.New.Kind == tenant.WorkspaceKind {
		workspaceID = ch.New.ID
	}
	subject := quota.Subject{Kind: ch.New.Kind, ID: ch.New.ID, OrgID: ch.New.OrgID, WorkspaceID: workspaceID}
	return k.Update(ctx, tx, c.Now, subject, Change{before, after, sent, resets(ch.Sent)})
}

// Change describes a change for the meters of a subject.
type Change struct {
	Before, After []quota.Budget
	Sent          bool // after was sent; otherwise it equals before
	Reset         bool
}

// None reports whether the meters do not change.
func (ch Change) None() bool { return !ch.Sent && !ch.Reset }
