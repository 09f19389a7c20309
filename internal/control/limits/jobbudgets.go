package limits

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sluice/internal/control/budgets"
	"sluice/internal/control/resource"
	"sluice/internal/control/sweep"
	"sluice/internal/domain/credential"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
)

// updateBudgets resets the usage that is due and clears alerts of usage that was corrected. Then
// it raises alerts for usage that has reached a threshold or limit: the subject is exhausted,
// and people are notified once.
// Source: contract/identity-and-governance.md section 6.
func (k scheduledJobs) updateBudgets(ctx context.Context, now time.Time) error {
	if enabled, set := k.Features[budgets.FeatureBudgets]; set && !enabled {
		return nil
	}
	err := k.sweepMeters(ctx, quota.MeterQuery{DueBy: now}, func(m quota.Meter) error {
		return k.changeMeter(ctx, m, func(tx resource.Tx, m *quota.Meter, subject *budgetSubject) error {
			return k.resetDue(ctx, tx, m, subject, now)
		})
	})
	if err != nil {
		return err
	}
	err = k.sweepMeters(ctx, quota.MeterQuery{Relieved: true}, func(m quota.Meter) error {
		return k.changeMeter(ctx, m, func(tx resource.Tx, m *quota.Meter, subject *budgetSubject) error {
			return k.clearBudgetAlert(ctx, tx, m, subject, now)
		})
	})
	if err != nil {
		return err
	}
	return k.sweepMeters(ctx, quota.MeterQuery{Reached: true}, func(m quota.Meter) error {
		return k.changeMeter(ctx, m, func(tx resource.Tx, m *quota.Meter, subject *budgetSubject) error {
			return k.raiseBudgetAlert(ctx, tx, m, subject, now)
		})
	})
}

// sweepMeters does the same as Sweeper.Sweep for meters.
func (k scheduledJobs) sweepMeters(ctx context.Context, q quota.MeterQuery, f func(quota.Meter) error) error {
	q.Limit = sweep.PageSize
	page := func(last *quota.Meter) ([]quota.Meter, error) {
		q.After = last
		return k.Meters.Meters(ctx, k.Store, q)
	}
	return sweep.Pages(ctx, page, func(m quota.Meter) string { return "usage of " + m.Kind + " " + m.ID }, f)
}

// budgetSubject is a budget with the record that has it. changed reports that the record must be
// written.
type budgetSubject struct {
	rec     resource.Record
	budget  *quota.Budget
	changed bool
}

// changeMeter runs f on the present state of a meter and its subject, in a transaction. It
// deletes the meters of a subject that does not exist any more.
func (k scheduledJobs) changeMeter(ctx context.Context, m quota.Meter, f func(tx resource.Tx, m *quota.Meter, subject *budgetSubject) error) error {
	return k.Sweeper.Transact(ctx, func(tx resource.Tx) (bool, error) {
		subject, err := findBudgetSubject(ctx, tx, m)
		if err != nil {
			return false, err
		}
		if subject == nil {
			return false, k.Meters.DropMeters(ctx, tx, m.ID, m.WorkspaceID, m.BudgetKey)
		}
		list, err := k.Meters.Meters(ctx, tx, quota.MeterQuery{SubjectID: m.ID, Entries: []string{m.BudgetKey}})
		if err != nil || len(list) == 0 {
			return false, err
		}
		if err := f(tx, &list[0], subject); err != nil || !subject.changed {
			return false, err
		}
		return true, tx.Update(ctx, subject.rec)
	})
}

// findBudgetSubject returns the record and the budget that a meter belongs to; nil if they do
// not exist any more.
func findBudgetSubject(ctx context.Context, tx resource.Tx, m quota.Meter) (*budgetSubject, error) {
	kind := m.Kind
	if kind == quota.IntegrationWorkspace {
		kind = credential.IntegrationKind
	}
	rec, err := tx.Find(ctx, kind, m.ID)
	if fault.Has(err, fault.NotFound) || err == nil && rec.Status == resource.Archived {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if m.Kind == quota.UsageLimitKind {
		p, err := resource.Decode[quota.UsageLimit](rec)
		if err != nil {
			return nil, err
		}
		return &budgetSubject{rec: rec, budget: &p.Value.Budget}, nil
	}
	list, err := budgetsIn(rec, m)
	if err != nil {
		return nil, err
	}
	if b := budgets.BudgetOf(list, m.BudgetKey); b != nil {
		return &budgetSubject{rec: rec, budget: b}, nil
	}
	return nil, nil
}

// budgetsIn returns the budgets of a record or, for an integration, those of the meter's
// workspace.
func budgetsIn(rec resource.Record, m quota.Meter) (quota.Budgets, error) {
	if m.Kind == quota.IntegrationWorkspace {
		integration, err := resource.Decode[credential.Integration](rec)
		if err != nil {
			return nil, err
		}
		return budgets.Decode(integration.Value.Limits[m.WorkspaceID].UsageLimits)
	}
	var limits quota.Limits
	if err := json.Unmarshal(rec.Body, &limits); err != nil {
		return nil, fmt.Errorf("decode the limits of %s %s: %w", rec.Kind, rec.ID, err)
	}
	return limits.Budgets, nil
}

// resetDue resets a meter that is due; for the head meter of a policy, with all of its counters.
func (k scheduledJobs) resetDue(ctx context.Context, tx resource.Tx, m *quota.Meter, subject *budgetSubject, now time.Time) error {
	if !m.Due(now) {
		return nil
	}
	resetAt := subject.budget.Latest(m.NextReset, now)
	m.NextReset = subject.budget.After(m.NextReset, now)
	if err := budgetJobs(k).onMeter(ctx, tx, m, subject, sweep.ActionReset, now, map[string]any{"reset_mode": "auto"}); err != nil {
		return err
	}
	if err := k.Budgets.Renew(ctx, tx, m, resetAt); err != nil {
		return err
	}
	if err := k.Meters.SaveMeter(ctx, tx, *m); err != nil {
		return err
	}
	if subject.rec.Status == budgets.Exhausted {
		subject.rec.Status, subject.rec.Updated, subject.changed = resource.Active, now, true
	}
	return nil
}

// clearBudgetAlert clears the alerts of a meter: after a correction the subject is not exhausted
// any more.
func (k scheduledJobs) clearBudgetAlert(ctx context.Context, tx resource.Tx, m *quota.Meter, subject *budgetSubject, now time.Time) error {
	was := m.Exhausted
	m.ClearAlerts()
	if err := k.Meters.SaveMeter(ctx, tx, *m); err != nil {
		return err
	}
	if !was || m.Exhausted {
		return nil
	}
	if isExhaustedByBudget(m.Kind) && subject.rec.Status == budgets.Exhausted {
		subject.rec.Status, subject.rec.Updated, subject.changed = resource.Active, now, true
	}
	return budgetJobs(k).onMeter(ctx, tx, m, subject, sweep.ActionRelieve, now, map[string]any{})
}

// raiseBudgetAlert records the level that usage has reached, and notifies people.
func (k scheduledJobs) raiseBudgetAlert(ctx context.Context, tx resource.Tx, m *quota.Meter, subject *budgetSubject, now time.Time) error {
	was := m.Exhausted
	alerts := m.Check()
	if err := k.Meters.SaveMeter(ctx, tx, *m); err != nil {
		return err
	}
	if m.Exhausted && !was && m.Kind != quota.UsageLimitKind { // for a policy it is reported below
		if err := budgetJobs(k).onMeter(ctx, tx, m, subject, sweep.ActionExhaust, now, map[string]any{}); err != nil {
			return err
		}
	}
	if m.Exhausted && isExhaustedByBudget(m.Kind) && subject.rec.Status == resource.Active {
		subject.rec.Status, subject.rec.Updated, subject.changed = budgets.Exhausted, now, true
	}
	if alerts.Threshold {
		if err := k.notifyBudget(ctx, tx, m, subject, "threshold", now); err != nil {
			return err
		}
	}
	if alerts.Exhausted {
		return k.notifyBudget(ctx, tx, m, subject, "exhausted", now)
	}
	return nil
}
