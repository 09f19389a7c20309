package journal

import "sluice/internal/ops/telemetry"

// RegisterMetrics registers metrics of the size and the entries of the journal.
func (j *Journal) RegisterMetrics(m *telemetry.Registry) {
	m.Gauge("sluice_journal_kept_entries", "Journal entries that the request log or the ledger still needs.", func() float64 { return float64(j.Stats().Lag) })
	m.Gauge("sluice_journal_bytes", "Total size of the journal files.", func() float64 { return float64(j.Stats().Disk) })
	m.Gauge("sluice_journal_limit_bytes", "Maximum total size of the journal files (JOURNAL_MAX_MB); calls are rejected when it is reached.", func() float64 { return float64(j.Stats().Limit) })
	m.Total("sluice_journal_records_total", "Log records written to the journal.", func() float64 { s := j.Stats(); return float64(s.Appended - s.Lines) })
	m.Total("sluice_journal_lines_total", "Ledger entries without a record written to the journal.", func() float64 { return float64(j.Stats().Lines) })
	m.Total("sluice_journal_damaged_total", "Unreadable journal entries, each counted once by reader.", func() float64 { return float64(j.Stats().Damaged) })
	m.Total("sluice_journal_refused_total", "Entries that the journal rejected.", func() float64 { return float64(j.Stats().Refused) })
}
