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

// Job is something that time does to what is stored: worker.Job. It does what is due at
// now, in a transaction for each record, so that it may be cut off anywhere and run
// again.
type Job struct {
	Name  string // "keys"
	Every time.Duration
	Run   func(ctx context.Context, now time.Time) error
}

// Jobs are all jobs of the administration, for one node at a time. They need the same
// Parts as New, but not what serves requests. To add a job, add its line.
func Jobs(p Parts) []Job {
	k := kinds{Parts: p}
	const often, seldom = time.Minute, time.Hour
	jobs := []Job{
		{"key-cadence", 10 * time.Minute, k.forceCadences},
		{"keys", often, k.ageKeys},
		{"providers", often, k.expireProviders},
		{"budgets", 30 * time.Second, k.ageBudgets},
		{"invites", often, k.expireInvites},
		{"sessions", seldom, k.dropSessions},
		{"outbox-purge", seldom, k.purgeOutbox},
	}
	if p.Mail != nil {
		jobs = append(jobs, Job{"outbox", 5 * time.Second, k.sendMails})
	}
	return jobs
}

const (
	sweepPage   = 500
	sweepErrors = 5 // after so many records that fail a sweep gives up
)

// sweep calls f for every record of a query, the oldest first. One that fails does not
// keep the others waiting, and one that was changed meanwhile waits for the next run.
func (k kinds) sweep(ctx context.Context, q resource.Query, f func(resource.Record) error) error {
	q.Limit = sweepPage
	var errs []error
	for {
		rows, err := k.Store.List(ctx, q)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		for _, r := range rows {
			err := f(r)
			if err == nil || fault.Has(err, fault.Conflict) || fault.Has(err, fault.NotFound) {
				continue
			}
			errs = append(errs, fmt.Errorf("%s %s: %w", r.Kind, r.ID, err))
			if len(errs) == sweepErrors || ctx.Err() != nil || fault.Has(err, fault.ReadOnly) {
				return errors.Join(errs...)
			}
		}
		if len(rows) < q.Limit {
			return errors.Join(errs...)
		}
		q.After = rows[len(rows)-1].ID
	}
}

// change runs f on the present state of a record, in a transaction, and writes what f
// makes of it; f returns false when there is nothing to do.
func (k kinds) change(ctx context.Context, r resource.Record, now time.Time, f func(tx resource.Tx, rec *resource.Record) (bool, error)) error {
	changed := false
	err := k.Store.InTx(ctx, func(tx resource.Tx) error {
		rec, err := tx.Find(ctx, r.Kind, r.ID)
		if err != nil {
			return err
		}
		rec.Updated = now
		if changed, err = f(tx, &rec); err != nil || !changed {
			return err
		}
		return tx.Update(ctx, rec)
	})
	if err == nil && changed && k.Wake != nil {
		k.Wake()
	}
	return err
}

// trail is for what no request caused.
func (k kinds) trail() resource.Trail {
	on, set := k.Features[auditFeature]
	return resource.Trail{Off: set && !on, Clock: k.Clock}
}

// eachWorkspace calls f for every live workspace, with the settings in force there.
func (k kinds) eachWorkspace(ctx context.Context, f func(place resource.Record, s tenant.Settings) error) error {
	return k.sweep(ctx, resource.Query{Kind: tenant.WorkspaceKind, Statuses: []string{resource.Active}}, func(place resource.Record) error {
		s, err := settingsOf(ctx, k.Store, place)
		if err != nil {
			return err
		}
		return f(place, s)
	})
}
