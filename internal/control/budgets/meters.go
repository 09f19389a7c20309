package budgets

import (
	"context"
	"slices"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/limits/quota"
)

// Update updates the meters of a subject to match its budgets.
func (k Limits) Update(ctx context.Context, tx resource.Tx, now time.Time, subject quota.Subject, ch Change) error {
	if ch.None() {
		return nil
	}
	present, err := k.MetersOf(ctx, tx, subject)
	if err != nil {
		return err
	}
	return k.Sync(ctx, tx, now, subject, ch, present)
}

// Sync changes the present meters of a subject, by the ids of their budgets. A new meter
// starts at zero, a remaining one gets the new limits, and a removed one is deleted.
func (k Limits) Sync(ctx context.Context, tx resource.Tx, now time.Time, subject quota.Subject, ch Change, present map[string]quota.Meter) error {
	for _, old := range ch.Before {
		if BudgetOf(ch.After, old.ID) == nil {
			delete(present, old.ID)
			if err := k.Meters.DropMeters(ctx, tx, subject.ID, subject.WorkspaceID, old.ID); err != nil {
				return err
			}
		}
	}
	for i := range ch.After {
		b := &ch.After[i]
		m, there := present[b.ID]
		save := k.Meters.SaveMeter
		if there {
			if err := k.Retune(ctx, tx, &m, b, BudgetOf(ch.Before, b.ID), ch.Sent, now); err != nil {
				return err
			}
			if ch.Reset {
				m.Reset(now)
			}
		} else {
			m, save = NewMeter(subject, b, now), k.Meters.AddMeter
		}
		if err := save(ctx, tx, m); err != nil {
			return err
		}
		present[b.ID] = m
	}
	return nil
}

// NewMeter returns the meter of a budget that starts to count at now.
func NewMeter(subject quota.Subject, b *quota.Budget, now time.Time) quota.Meter {
	return quota.Meter{Subject: subject, BudgetKey: b.ID, Limit: b.Limit(), Threshold: b.Threshold(), NextReset: b.First(now)}
}

// Retune sets the limits and the schedule of a budget in its meter. The next reset does not
// change unless another one was sent or the period changed. retune applies a reset that is due
// even if the worker has not processed it yet.
func (k Limits) Retune(ctx context.Context, tx resource.Tx, m *quota.Meter, b, before *quota.Budget, sent bool, now time.Time) error {
	m.SetLimits(b.Limit(), b.Threshold())
	if !sent || before != nil && b.Same(before.Period) && (b.NextResetAt == nil || Resent([]quota.Budget{*before}, b)) {
		return nil
	}
	due, resetAt := before != nil && m.Due(now), m.NextReset
	m.NextReset = b.First(now)
	if !due {
		return nil
	}
	was := m.Exhausted
	err := k.Renew(ctx, tx, m, before.Latest(resetAt, now))
	m.Exhausted = was // the worker clears it, also in the subject
	return err
}

// Renew resets the usage as of a scheduled reset; for a policy it resets all its counters. The
// caller stores the meter.
func (k Limits) Renew(ctx context.Context, tx resource.Tx, m *quota.Meter, resetAt time.Time) error {
	m.Renew(resetAt)
	if m.Kind == quota.UsageLimitKind {
		return k.Meters.ResetMeters(ctx, tx, m.ID, resetAt)
	}
	return nil
}

// BudgetOf returns the budget of a list with an id; nil for none.
func BudgetOf(list []quota.Budget, id string) *quota.Budget {
	if i := slices.IndexFunc(list, func(b quota.Budget) bool { return b.ID == id }); i >= 0 {
		return &list[i]
	}
	return nil
}

// maxMeters limits the meters of one subject. An integration has the highest number, in all its
// workspaces.
const maxMeters = 1000

// MetersOf returns the meters of a subject by the ids of its budgets. For an integration it
// returns those in one workspace or, without a workspace, in all.
func (k Limits) MetersOf(ctx context.Context, from resource.Reader, subject quota.Subject) (map[string]quota.Meter, error) {
	q := quota.MeterQuery{SubjectID: subject.ID, Counters: true, Limit: maxMeters}
	if subject.Kind == quota.IntegrationWorkspace {
		q.WorkspaceID = subject.WorkspaceID
	}
	list, err := k.Meters.Meters(ctx, from, q)
	m := make(map[string]quota.Meter, len(list))
	for _, one := range list {
		m[one.BudgetKey] = one
	}
	return m, err
}
