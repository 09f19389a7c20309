package redis

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the metrics of a Limiter. The label is the name of a script.
type Metrics struct {
	seconds  *prometheus.HistogramVec
	failures *prometheus.CounterVec
	stated   prometheus.Counter
	missing  *prometheus.GaugeVec
}

// NewMetrics returns the metrics. The caller registers its Collectors.
func NewMetrics() *Metrics {
	return &Metrics{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sluice_redis_duration_seconds", Help: "Duration of round trips to Redis, by script.", Buckets: []float64{.0002, .0005, .001, .002, .005, .01, .05, .1, 1},
		}, []string{"script"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_redis_failures_total", Help: "Failed round trips to Redis, without a response or with an error, by script.",
		}, []string{"script"}),
		stated: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_limits_stated_total", Help: "Number of times this node sent all its counters of a partition to Redis: at start-up and after each interruption.",
		}),
		missing: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "sluice_limits_missing_nodes", Help: "Nodes not seen for a minute that still hold budget, by partition.",
		}, []string{"partition"}),
	}
}

// Collectors returns the metrics to be registered.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.seconds, m.failures, m.stated, m.missing}
}

func (m *Metrics) ran(script string, began time.Time, err error) {
	if err != nil {
		m.failures.WithLabelValues(script).Inc()
		return
	}
	m.seconds.WithLabelValues(script).Observe(time.Since(began).Seconds())
}
