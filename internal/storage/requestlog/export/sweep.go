package export

import (
	"context"
	"errors"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
)

// sweep deletes the files that no request can reach any more.
func (r *Runner) sweep(ctx context.Context) error {
	now := r.Clock.Now()
	if now.Sub(r.swept) < sweepInterval {
		return nil
	}
	var errs []error
	for _, id := range r.Files.List() {
		isNeeded, err := r.keeps(ctx, id, now)
		if err == nil && !isNeeded {
			err = r.Files.Remove(id)
		}
		errs = append(errs, err)
	}
	errs = append(errs, r.sweepStore(ctx, now))
	err := errors.Join(errs...)
	if err == nil {
		r.swept = now
	}
	return err
}

// sweepStore deletes the files in the bucket that no request can reach any more.
func (r *Runner) sweepStore(ctx context.Context, now time.Time) error {
	if r.ObjectStore == nil {
		return nil
	}
	return r.ObjectStore.sweep(ctx, func(id, run string) (bool, error) {
		return r.keepsRun(ctx, id, now, func(e *record.ExportRun) bool { return e.ID == run })
	})
}

// keeps reports whether a file belongs to an export that is in progress here, or that finished
// here and is not expired.
func (r *Runner) keeps(ctx context.Context, id string, now time.Time) (bool, error) {
	return r.keepsRun(ctx, id, now, func(e *record.ExportRun) bool { return e.Node == r.Node && !e.Shared })
}

// keepsRun reports whether an export is in progress, or finished and not expired, by a run for
// which fits returns true.
func (r *Runner) keepsRun(ctx context.Context, id string, now time.Time, fits func(*record.ExportRun) bool) (bool, error) {
	rec, err := r.Store.Find(ctx, record.ExportKind, id)
	if fault.Has(err, fault.NotFound) {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	row, err := resource.Decode[record.Export](rec)
	if err != nil {
		return true, err
	}
	e := &row.Value
	if rec.Status != resource.Active || !fits(&e.Run) {
		return false, nil
	}
	return e.State == record.ExportRunning || e.State == record.ExportDone && now.Before(e.Run.Ended.Add(r.Retention)), nil
}
