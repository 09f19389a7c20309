package export

import (
	"context"
	"encoding/json"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
)

// finishRun ends a run in the control plane.
func (r *Runner) finishRun(ctx context.Context, id, runID string, edit func(*record.Export)) error {
	now := r.Clock.Now()
	return r.change(ctx, id, runID, func(rec *resource.Record, e *record.Export) {
		edit(e)
		e.Run.Ended, rec.Updated = now, now
		rec.Index = withoutIndexEntry(withoutIndexEntry(rec.Index, record.ExportNodeIndex), record.ExportRunningIndex)
	})
}

// change writes the edited order; it returns errStopped if its run is no longer in progress.
func (r *Runner) change(ctx context.Context, id, runID string, edit func(*resource.Record, *record.Export)) error {
	return r.Store.InTx(ctx, func(tx resource.Tx) error {
		rec, err := tx.Find(ctx, record.ExportKind, id)
		if fault.Has(err, fault.NotFound) {
			return errStopped
		}
		if err != nil {
			return err
		}
		row, err := resource.Decode[record.Export](rec)
		if err != nil {
			return err
		}
		e := &row.Value
		if rec.Status != resource.Active || e.State != record.ExportRunning || e.Run.ID != runID {
			return errStopped
		}
		edit(&row.Record, e)
		return store(ctx, tx, row)
	})
}

// store writes an order.
func store(ctx context.Context, tx resource.Tx, row *resource.Row[record.Export]) error {
	body, err := json.Marshal(row.Value)
	if err != nil {
		return err
	}
	row.Body = body
	return tx.Update(ctx, row.Record)
}
