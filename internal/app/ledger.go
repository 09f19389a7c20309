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

// ledgerMetrics registers metrics of how far usage totals lag.
func (a *App) ledgerMetrics() {
	m, stats := a.metrics, a.spend.Stats
	m.Gauge("sluice_ledger_open_lines", "Running calls with a cost reservation.", func() float64 { return float64(stats().Open) })
	m.Gauge("sluice_ledger_lag_entries", "Journal entries that the usage totals do not include yet.", func() float64 { return float64(a.lines.Remaining(stats().Read)) })
	m.Total("sluice_ledger_lines_total", "Closed ledger entries and corrections whose charges are in the database.", func() float64 { return float64(stats().Lines) })
	m.Total("sluice_ledger_failures_total", "Failed writes of usage totals; each was retried later.", func() float64 { return float64(stats().Failures) })
	m.Total("sluice_ledger_abandoned_total", "Calls interrupted by a crash, which count with their maximum cost.", func() float64 { return float64(stats().Abandoned) })
	m.Total("sluice_ledger_corrected_total", "Calls whose charges were corrected because their price was wrong.", func() float64 { return float64(stats().Corrected) })
	m.Total("sluice_ledger_stray_total", "Closed ledger entries without a reservation; they count.", func() float64 { return float64(stats().Unreserved) })
}
