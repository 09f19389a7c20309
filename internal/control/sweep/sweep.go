package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// Sweeper goes through all records of a kind, on behalf of scheduled jobs, and changes those
// that are due. Each record is changed in a transaction of its own.
type Sweeper struct {
	Store    resource.Store
	Clock    ident.Clock
	Features map[string]bool // deployment flags by name; AUDIT_LOGS_ENABLED disables the audit trail when it is off
	Wake     func()          // called after each committed change; may be nil
}

const (
	PageSize  = 500
	maxErrors = 5 // a sweep stops after this many failed records
)

// Sweep calls f for every record of a query, oldest first.
func (k Sweeper) Sweep(ctx context.Context, q resource.Query, f func(resource.Record) error) error {
	q.Limit = PageSize
	page := func(last *resource.Record) ([]resource.Record, error) {
		if last != nil {
			q.After = last.ID
		}
		return k.Store.List(ctx, q)
	}
	return Pages(ctx, page, func(r resource.Record) string { return r.Kind + " " + r.ID }, f)
}

// Pages calls f for everything on the pages that page returns, each with up to PageSize
// entries after the last entry of the previous page. An entry that fails does not stop the
// others. An entry that was changed concurrently waits for the next run. name names an entry in
// an error.
func Pages[T any](ctx context.Context, page func(last *T) ([]T, error), name func(T) string, f func(T) error) error {
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
			if len(errs) == maxErrors || ctx.Err() != nil || fault.Has(err, fault.ReadOnly) {
				return errors.Join(errs...)
			}
		}
		if len(list) < PageSize {
			return errors.Join(errs...)
		}
		last = &list[len(list)-1]
	}
}

// Change runs f on the present state of a record, in a transaction, and writes the result; f
// returns false if there is nothing to change.
func (k Sweeper) Change(ctx context.Context, r resource.Record, now time.Time, f func(tx resource.Tx, rec *resource.Record) (bool, error)) error {
	return k.Transact(ctx, func(tx resource.Tx) (bool, error) {
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

// Transact runs f in a transaction. If f reports a change, it wakes the readers of changes after
// the commit.
func (k Sweeper) Transact(ctx context.Context, f func(tx resource.Tx) (changed bool, err error)) error {
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
func (k Sweeper) trail() resource.Trail {
	enabled, set := k.Features[AuditFeature]
	return resource.Trail{Off: set && !enabled, Clock: k.Clock}
}

// EachWorkspace calls f for every live workspace, with the settings in force there.
func (k Sweeper) EachWorkspace(ctx context.Context, f func(workspace resource.Record, s tenant.Settings) error) error {
	return k.Sweep(ctx, resource.Query{Kind: tenant.WorkspaceKind, Statuses: []string{resource.Active}}, func(workspace resource.Record) error {
		s, err := directory.SettingsOf(ctx, k.Store, workspace)
		if err != nil {
			return err
		}
		return f(workspace, s)
	})
}

// Drop deletes a record.
func (k Sweeper) Drop(ctx context.Context, rec resource.Record) error {
	return k.Store.InTx(ctx, func(tx resource.Tx) error { return tx.Delete(ctx, rec.Kind, rec.ID) })
}
