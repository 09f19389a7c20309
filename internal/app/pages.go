package app

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/dataplane/front/h1"
	"sluice/internal/gateway/nethttp/router"
)

// pages returns the few pages that belong neither to the data plane nor to the administration.
func (a *App) pages() map[string]http.HandlerFunc {
	p := map[string]http.HandlerFunc{
		"/":          func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("Sluice is running.\n")) },
		"/health":    a.report().ServeHTTP,
		"/v1/health": a.report().ServeHTTP,
	}
	if a.set.Telemetry.Prometheus {
		p["/metrics"] = router.RequireToken(a.set.Telemetry.MetricsToken, a.metrics.Handler().ServeHTTP)
	}
	a.ingest(p)
	return p
}

// buildMetrics registers the metrics of other parts of the program.
func (a *App) buildMetrics(context.Context) error {
	m := a.metrics
	m.Gauge("sluice_background_responses", "Background responses that are polled because providers still process them.", func() float64 { return float64(a.gateway.Background().Len()) })
	m.Gauge("sluice_abandoned_answers", "Complete provider responses that are read to the end without a waiting client.", func() float64 { return float64(a.gateway.Abandoned().Responses()) })
	m.Gauge("sluice_abandoned_streams", "Provider streams that are read to the end after the client disconnected.", func() float64 { return float64(a.gateway.Abandoned().Streams()) })
	m.Gauge("sluice_open_requests", "Model requests in progress.", func() float64 { return float64(a.gateway.Open()) })
	m.Gauge("sluice_journal_lag_records", "Journal entries that the request log has not processed yet.", func() float64 { return float64(a.records.Lag()) })
	m.Gauge("sluice_journal_kept_entries", "Journal entries that the request log or the ledger still needs.", func() float64 { return float64(a.journal.Stats().Lag) })
	m.Gauge("sluice_journal_bytes", "Total size of the journal files.", func() float64 { return float64(a.journal.Stats().Disk) })
	m.Gauge("sluice_journal_limit_bytes", "Maximum total size of the journal files (JOURNAL_MAX_MB); calls are rejected when it is reached.", func() float64 { return float64(a.journal.Stats().Limit) })
	m.Total("sluice_journal_records_total", "Log records written to the journal.", func() float64 { s := a.journal.Stats(); return float64(s.Appended - s.Lines) })
	m.Total("sluice_journal_lines_total", "Ledger entries without a record written to the journal.", func() float64 { return float64(a.journal.Stats().Lines) })
	m.Total("sluice_journal_damaged_total", "Unreadable journal entries, each counted once by reader.", func() float64 { return float64(a.journal.Stats().Damaged) })
	m.Total("sluice_journal_refused_total", "Entries that the journal rejected.", func() float64 { return float64(a.journal.Stats().Refused) })
	a.catalogMetrics()
	a.ledgerMetrics()
	a.storeMetrics()
	a.exportMetrics()
	m.Register(breakers{a})
	if a.bucket != nil {
		m.Register(a.bucket)
	}
	return nil
}

// storeMetrics registers metrics of whether the data that requests produce can be stored.
func (a *App) storeMetrics() {
	up := func(ok bool) float64 {
		if ok {
			return 1
		}
		return 0
	}
	role := func(name string, ok func() bool) {
		a.metrics.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sluice_store_up", Help: "1 if the control-plane database is reachable, by role: writer or reader.", ConstLabels: prometheus.Labels{"role": name},
		}, func() float64 { return up(ok()) }))
	}
	role("writer", func() bool { return a.store.Health().Writer })
	role("reader", func() bool { return a.store.Health().Reader })
	a.metrics.Gauge("sluice_log_store_up", "1 if the request log accepts writes; otherwise records stay in the journal.", func() float64 { return up(a.logs.Err() == nil) })
	a.metrics.Total("sluice_log_store_records_total", "Records stored in the request log.", func() float64 { return float64(a.logs.Stats().Records) })
	a.metrics.Total("sluice_log_store_failures_total", "Failed batches of records; each was retried.", func() float64 { return float64(a.logs.Stats().Failures) })
}

// connectionMetrics registers metrics that count evicted client connections.
func (a *App) connectionMetrics(s *h1.Server) {
	for _, reason := range [...]string{h1.EvictedSilent, h1.EvictedIdle, h1.EvictedShare} {
		a.metrics.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "sluice_connections_evicted_total", Help: "Client connections closed to free a slot for others, by reason.", ConstLabels: prometheus.Labels{"reason": reason},
		}, func() float64 { return float64(s.Evicted(reason)) }))
	}
}

// breakers exports the open circuit breakers. Closed ones are not worth a series each.
type breakers struct{ a *App }

var openCircuits = prometheus.NewDesc("sluice_circuit_open", "1 for each target with an open circuit breaker, by config path.", []string{"scope", "path"}, nil)

// Describe sends the description of the metric.
func (breakers) Describe(ch chan<- *prometheus.Desc) { ch <- openCircuits }

// Collect sends one sample per open circuit, at most maxCircuits.
func (b breakers) Collect(ch chan<- prometheus.Metric) {
	const maxCircuits = 1000
	for i, s := range b.a.engine.OpenBreakers() {
		if i == maxCircuits {
			return
		}
		ch <- prometheus.MustNewConstMetric(openCircuits, prometheus.GaugeValue, 1, s.Scope, s.Path)
	}
}
