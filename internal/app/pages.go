package app

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/gateway/nethttp/router"
	"sluice/internal/http1/server"
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
	a.catalogMetrics()
	a.journal.RegisterMetrics(m)
	a.spend.RegisterMetrics(m)
	m.Gauge("sluice_ledger_lag_entries", "Journal entries that the usage totals do not include yet.", func() float64 { return float64(a.lines.Remaining(a.spend.Stats().Read)) })
	a.store.RegisterMetrics(m)
	a.logs.RegisterMetrics(m)
	a.exports.RegisterMetrics(m)
	m.Gauge("sluice_log_export_bytes", "Total size of the log export files on this node.", func() float64 { return float64(a.exported.Bytes()) })
	m.Register(breakers{a})
	if a.bucket != nil {
		m.Register(a.bucket)
	}
	return nil
}

// connectionMetrics registers metrics that count evicted client connections.
func (a *App) connectionMetrics(s *server.Server) {
	for _, reason := range [...]string{server.EvictedSilent, server.EvictedIdle, server.EvictedShare} {
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
