package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/fault"
	"sluice/internal/resource"
	"sluice/internal/tenant"
)

// Job is a scheduled change of stored records: worker.Job. It does what is due at now, in a
// transaction for each record, so that it may be interrupted at any point and run again.
type Job struct {
	Name  string // "keys"
	Every time.Duration
	Run   func(ctx context.Context, now time.Time) error
}

// Jobs returns all jobs of the administration, for one node at a time. They need the same Parts
// as New, except those for serving requests. To add a job, add its line here.
func Jobs(p Parts) []Job {
	k := deps{Parts: p}
	const often, seldom = time.Minute, time.Hour
	jobs := []Job{
		{"key-cadence", 10 * time.Minute, k.enforceRotationPeriods},
		{"keys", often, k.runDueKeySteps},
		{"providers", often, k.expireProviders},
		{"budgets", 30 * time.Second, k.updateBudgets},
		{"invites", often, k.expireInvites},
		{"sessions", seldom, k.dropSessions},
		{"outbox-purge", seldom, k.purgeOutbox},
		{"feedback-purge", seldom, k.purgeFeedback},
	}
	if p.Mail != nil {
		jobs = append(jobs, Job{"outbox", 5 * time.Second, k.sendMails})
	}
	return jobs
}

const (
	sweepPage   = 500
	sweepErrors = 5 // a sweep stops after this many failed records
)

// sweep calls f for every record of a query, oldest first.
func (k deps) sweep(ctx context.Context, q resource.Query, f func(resource.Record) error) error {
	q.Limit = sweepPage
	page := func(last *resource.Record) ([]resource.Record, error) {
		if last != nil {
			q.After = last.ID
		}
		return k.Store.List(ctx, q)
	}
	return sweepPages(ctx, page, func(r resource.Record) string { return r.Kind + " " + r.ID }, f)
}

// sweepPages calls f for everything on the pages that page returns, each with up to sweepPage
// entries after the last entry of the previous page. An entry that fails does not stop the
// others. An entry that was changed concurrently waits for the next run. name names an entry in
// an error.
func sweepPages[T any](ctx context.Context, page func(last *T) ([]T, error), name func(T) string, f func(T) error) error {
	var errs []error
	var last *T
	for {
		list, err := page(last)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		for _, one := range list {
			err := f(one)
			if err == nil || fault.Has(err, fault.Conflict) || fault.Has(err, fault.NotFound) {
				continue
			}
			errs = append(errs, fmt.Errorf("%s: %w", name(one), err))
			if len(errs) == sweepErrors || ctx.Err() != nil || fault.Has(err, fault.ReadOnly) {
				return errors.Join(errs...)
			}
		}
		if len(list) < sweepPage {
			return errors.Join(errs...)
		}
		last = &list[len(list)-1]
	}
}

// change runs f on the present state of a record, in a transaction, and writes the result; f
// returns false if there is nothing to change.
func (k deps) change(ctx context.Context, r resource.Record, now time.Time, f func(tx resource.Tx, rec *resource.Record) (bool, error)) error {
	return k.changing(ctx, func(tx resource.Tx) (bool, error) {
		rec, err := tx.Find(ctx, r.Kind, r.ID)
		if err != nil {
			return false, err
		}
		rec.Updated = now
		if changed, err := f(tx, &rec); err != nil || !changed {
			return false, err
		}
		return true, tx.Update(ctx, rec)
	})
}

// changing runs f in a transaction. If f reports a change, it wakes the readers of changes after
// the commit.
func (k deps) changing(ctx context.Context, f func(tx resource.Tx) (changed bool, err error)) error {
	changed := false
	err := k.Store.InTx(ctx, func(tx resource.Tx) (err error) {
		changed, err = f(tx)
		return err
	})
	if err == nil && changed && k.Wake != nil {
		k.Wake()
	}
	return err
}

// trail returns the audit trail for events that no request caused.
func (k deps) trail() resource.Trail {
	enabled, set := k.Features[auditFeature]
	return resource.Trail{Off: set && !enabled, Clock: k.Clock}
}

// eachWorkspace calls f for every live workspace, with the settings in force there.
func (k deps) eachWorkspace(ctx context.Context, f func(workspace resource.Record, s tenant.Settings) error) error {
	return k.sweep(ctx, resource.Query{Kind: tenant.WorkspaceKind, Statuses: []string{resource.Active}}, func(workspace resource.Record) error {
		s, err := settingsOf(ctx, k.Store, workspace)
		if err != nil {
			return err
		}
		return f(workspace, s)
	})
}
