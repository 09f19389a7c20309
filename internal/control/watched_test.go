package control_test

import (
	"context"
	"errors"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/limits/quota"
	"sluice/internal/storage/sqlstore"
)

// watch is a store that notes what its transactions wrote, and can fail at any write. It
// belongs to one goroutine.
type watch struct {
	resource.Store
	st     *sqlstore.Store
	failAt int       // the write of a call that fails, from 1; 0 for none
	writes int       // of all transactions since reset
	done   []written // by the transactions that were committed
}

// written is what one transaction wrote: how often, and its rows of the audit trail.
type written struct {
	changes int
	audits  []resource.AuditRow
}

var errBroken = errors.New("the database breaks")

// reset begins anew, to fail at a write.
func (w *watch) reset(failAt int) { w.failAt, w.writes, w.done = failAt, 0, nil }

func (w *watch) InTx(ctx context.Context, f func(resource.Tx) error) error {
	var last *watchedTx
	err := w.Store.InTx(ctx, func(tx resource.Tx) error {
		last = &watchedTx{Tx: tx, by: w}
		return f(last)
	})
	if err == nil {
		w.done = append(w.done, last.written)
	}
	return err
}

// watchedTx is a transaction of a watch.
type watchedTx struct {
	resource.Tx
	by *watch
	written
}

// write counts a write, or fails it.
func (t *watchedTx) write(count *int) error {
	t.by.writes++
	if t.by.writes == t.by.failAt {
		return errBroken
	}
	*count++
	return nil
}

func (t *watchedTx) Insert(ctx context.Context, r resource.Record) error {
	if err := t.write(&t.changes); err != nil {
		return err
	}
	return t.Tx.Insert(ctx, r)
}

func (t *watchedTx) Update(ctx context.Context, r resource.Record) error {
	if err := t.write(&t.changes); err != nil {
		return err
	}
	return t.Tx.Update(ctx, r)
}

func (t *watchedTx) Delete(ctx context.Context, kind, id string) error {
	if err := t.write(&t.changes); err != nil {
		return err
	}
	return t.Tx.Delete(ctx, kind, id)
}

func (t *watchedTx) PutLinks(ctx context.Context, set, from string, links []resource.Link) error {
	if err := t.write(&t.changes); err != nil {
		return err
	}
	return t.Tx.PutLinks(ctx, set, from, links)
}

func (t *watchedTx) Audit(ctx context.Context, a resource.AuditRow) error {
	if err := t.write(new(int)); err != nil {
		return err
	}
	t.audits = append(t.audits, a)
	return t.Tx.Audit(ctx, a)
}

// The meters of the store know their own transactions only.

func (w *watch) Meters(ctx context.Context, from resource.Reader, q quota.MeterQuery) ([]quota.Meter, error) {
	return w.st.Meters(ctx, plainReader(from), q)
}

func (w *watch) CountMeters(ctx context.Context, from resource.Reader, q quota.MeterQuery) (int, error) {
	return w.st.CountMeters(ctx, plainReader(from), q)
}

func (w *watch) AddMeter(ctx context.Context, tx resource.Tx, m quota.Meter) error {
	return w.meter(tx, func(tx resource.Tx) error { return w.st.AddMeter(ctx, tx, m) })
}

func (w *watch) SaveMeter(ctx context.Context, tx resource.Tx, m quota.Meter) error {
	return w.meter(tx, func(tx resource.Tx) error { return w.st.SaveMeter(ctx, tx, m) })
}

func (w *watch) DropMeters(ctx context.Context, tx resource.Tx, subjectID, workspaceID string, entries ...string) error {
	return w.meter(tx, func(tx resource.Tx) error { return w.st.DropMeters(ctx, tx, subjectID, workspaceID, entries...) })
}

func (w *watch) RetuneMeters(ctx context.Context, tx resource.Tx, before, head quota.Meter) error {
	return w.meter(tx, func(tx resource.Tx) error { return w.st.RetuneMeters(ctx, tx, before, head) })
}

func (w *watch) ResetMeters(ctx context.Context, tx resource.Tx, subjectID string, now time.Time) error {
	return w.meter(tx, func(tx resource.Tx) error { return w.st.ResetMeters(ctx, tx, subjectID, now) })
}

func (w *watch) meter(tx resource.Tx, f func(resource.Tx) error) error {
	t, ok := tx.(*watchedTx)
	if !ok {
		return f(tx)
	}
	if err := t.write(&t.changes); err != nil {
		return err
	}
	return f(t.Tx)
}

func plainReader(from resource.Reader) resource.Reader {
	if t, ok := from.(*watchedTx); ok {
		return t.Tx
	}
	return from
}
