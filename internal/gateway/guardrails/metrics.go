package guardrails

import "github.com/prometheus/client_golang/prometheus"

// Metrics count the runs of checks.
type Metrics struct {
	checks *prometheus.CounterVec
	denied *prometheus.CounterVec
}

// NewMetrics returns the metrics. The caller registers its Collectors.
func NewMetrics() *Metrics {
	return &Metrics{
		checks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_guardrail_checks_total", Help: "Runs of guardrail checks, by check, hook (input, output) and verdict (passed, failed, error).",
		}, []string{"check", "hook", "verdict"}),
		denied: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_guardrail_denials_total", Help: "Calls that guardrails denied, by hook (input, output).",
		}, []string{"hook"}),
	}
}

// Collectors returns the metrics to be registered.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.checks, m.denied}
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
}
