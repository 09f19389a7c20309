package spend

import "sluice/internal/ops/telemetry"

// RegisterMetrics registers metrics of how far usage totals lag.
func (c *Consumer) RegisterMetrics(m *telemetry.Registry) {
	m.Gauge("sluice_ledger_open_lines", "Running calls with a cost reservation.", func() float64 { return float64(c.Stats().Open) })
	m.Total("sluice_ledger_lines_total", "Closed ledger entries and corrections whose charges are in the database.", func() float64 { return float64(c.Stats().Lines) })
	m.Total("sluice_ledger_failures_total", "Failed writes of usage totals; each was retried later.", func() float64 { return float64(c.Stats().Failures) })
	m.Total("sluice_ledger_abandoned_total", "Calls interrupted by a crash, which count with their maximum cost.", func() float64 { return float64(c.Stats().Abandoned) })
	m.Total("sluice_ledger_corrected_total", "Calls whose charges were corrected because their price was wrong.", func() float64 { return float64(c.Stats().Corrected) })
	m.Total("sluice_ledger_stray_total", "Closed ledger entries without a reservation; they count.", func() float64 { return float64(c.Stats().Unreserved) })
}
