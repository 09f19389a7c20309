package guardrails

import "github.com/prometheus/client_golang/prometheus"

// Metrics count the runs of checks.
type Metrics struct {
	checks  *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	denied  *prometheus.CounterVec
}

// NewMetrics returns the metrics. The caller registers its Collectors.
func NewMetrics() *Metrics {
	return &Metrics{
		checks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_guardrail_checks_total", Help: "Runs of guardrail checks, by check, hook (input, output) and verdict (passed, failed, error).",
		}, []string{"check", "hook", "verdict"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sluice_guardrail_check_seconds", Help: "Duration of guardrail checks, by check and hook (input, output). On a stream, of all its windows together.",
			Buckets: []float64{.00001, .0001, .001, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"check", "hook"}),
		denied: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_guardrail_denials_total", Help: "Calls that guardrails denied, by hook (input, output).",
		}, []string{"hook"}),
	}
}

// Collectors returns the metrics to be registered.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.checks, m.seconds, m.denied}
}

func (m *Metrics) ran(phase string, r *CheckResult) {
	outcome := "passed"
	switch {
	case r.Error != nil:
		outcome = "error"
	case !r.Verdict:
		outcome = "failed"
	}
	m.checks.WithLabelValues(r.ID, phase, outcome).Inc()
	m.seconds.WithLabelValues(r.ID, phase).Observe(r.took.Seconds())
}
