package app

import (
	"context"

	"sluice/internal/fault"
	"sluice/internal/spend"
)

// openLedger brings the meters in the store up to what the journal knows of earlier runs.
// Only then may they be loaded, and anything be served. Where the database takes no writes
// the bank remembers that instead, so that limits hold, and it is stored once they are
// taken again.
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
	a.log.Error("what was used is added up later, because the database takes no writes; it waits in the journal, and limits count it", "error", err.Error())
	return a.spend.Postpone(ctx)
}

// ledgerMetrics shows how the sums of what was used keep up.
func (a *App) ledgerMetrics() {
	m, stats := a.metrics, a.spend.Stats
	m.Gauge("sluice_ledger_open_lines", "Calls under way that have reserved what they may cost.", func() float64 { return float64(stats().Open) })
	m.Gauge("sluice_ledger_lag_entries", "Journal entries that the sums of what was used do not have yet.", func() float64 { return float64(a.lines.Remaining(stats().Read)) })
	m.Total("sluice_ledger_lines_total", "Closed ledger lines and corrections whose charges are in the database.", func() float64 { return float64(stats().Lines) })
	m.Total("sluice_ledger_failures_total", "Times that sums could not be stored; they were stored later.", func() float64 { return float64(stats().Failures) })
	m.Total("sluice_ledger_abandoned_total", "Calls cut off by a crash, which count with the bound of their cost.", func() float64 { return float64(stats().Abandoned) })
	m.Total("sluice_ledger_corrected_total", "Calls whose charges were corrected because their price was wrong.", func() float64 { return float64(stats().Corrected) })
	m.Total("sluice_ledger_stray_total", "Closed ledger lines that nobody had reserved; they count.", func() float64 { return float64(stats().Unreserved) })
}
