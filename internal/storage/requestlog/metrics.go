package requestlog

import "sluice/internal/ops/telemetry"

// RegisterMetrics registers metrics of whether records can be stored.
func (s *Store) RegisterMetrics(m *telemetry.Registry) {
	m.Gauge("sluice_log_store_up", "1 if the request log accepts writes; otherwise records stay in the journal.", func() float64 {
		if s.Err() == nil {
			return 1
		}
		return 0
	})
	m.Total("sluice_log_store_records_total", "Records stored in the request log.", func() float64 { return float64(s.Stats().Records) })
	m.Total("sluice_log_store_failures_total", "Failed batches of records; each was retried.", func() float64 { return float64(s.Stats().Failures) })
}
