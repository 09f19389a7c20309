package jobs

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the metrics of the worker. The label is the name of a job.
type Metrics struct {
	leads   prometheus.Gauge
	runs    *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	last    *prometheus.GaugeVec
}

// NewMetrics returns the metrics. The caller registers its Collectors.
func NewMetrics() *Metrics {
	return &Metrics{
		leads: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "sluice_worker_leads", Help: "1 on the node that holds the worker lease and runs its jobs. The sum over all nodes is 1; 0 for more than 30 s means that no node runs them.",
		}),
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_worker_runs_total", Help: "Runs of the worker's jobs, by job and outcome."}, []string{"job", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sluice_worker_run_duration_seconds", Help: "Duration of job runs, by job.", Buckets: []float64{.001, .01, .1, 1, 10, 60},
		}, []string{"job"}),
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "sluice_worker_last_success_timestamp_seconds", Help: "Time of the last completed run on this node, by job."}, []string{"job"}),
	}
}

// Collectors returns the metrics to be registered.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.leads, m.runs, m.seconds, m.last}
}

func (m *Metrics) lead(yes bool) {
	m.leads.Set(0)
	if yes {
		m.leads.Set(1)
	}
}

func (m *Metrics) ran(job string, err error, now time.Time, took time.Duration) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	} else {
		m.last.WithLabelValues(job).Set(float64(now.Unix()))
	}
	m.runs.WithLabelValues(job, outcome).Inc()
	m.seconds.WithLabelValues(job).Observe(took.Seconds())
}
