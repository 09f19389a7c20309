package app

import (
	"context"

	"sluice/internal/fault"
	"sluice/internal/spend"
)

// openLedger updates the meters in the store with the journal entries of earlier runs. Only then
// may the meters be loaded and traffic be served. While the database accepts no writes, the
// limiter records the usage instead, so that limits hold, and it is stored later.
func (a *App) openLedger(ctx context.Context) error {
	o := spend.Options{
		Node: a.journal.ID(), Lines: a.lines, Journal: a.journal, Store: a.store, Limiter: a.limits, Clock: a.clock, Logger: a.log,
	}
	if a.shared != nil {
		o.Corrected = a.shared.Corrected
	}
	a.spend = spend.New(o)
	err := a.spend.Recover(ctx)
	if !fault.Has(err, fault.ReadOnly) {
		return err
	}
	a.log.Error("database is read-only; usage stays in the journal and counts against limits", "error", err.Error())
	return a.spend.Postpone(ctx)
}
