package export

import "sluice/internal/ops/telemetry"

// RegisterMetrics registers metrics of exports.
func (r *Runner) RegisterMetrics(m *telemetry.Registry) {
	m.Total("sluice_log_export_rows_total", "Number of rows written to log export files.", func() float64 { return float64(r.Stats().Rows) })
	m.Total("sluice_log_exports_done_total", "Number of completed log exports.", func() float64 { return float64(r.Stats().Done) })
	m.Total("sluice_log_exports_failed_total", "Number of failed log exports; the export contains the reason.", func() float64 { return float64(r.Stats().Failed) })
}
