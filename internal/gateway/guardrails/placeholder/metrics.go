package placeholder

import "github.com/prometheus/client_golang/prometheus"

// The operations of a store whose failures are counted.
const (
	loading = iota
	saving
)

var operations = [...]string{loading: "load", saving: "save"}

// failuresDesc describes the only metric of a store.
var failuresDesc = prometheus.NewDesc("sluice_placeholder_failures_total", "Calls whose placeholders of earlier calls could not be loaded, or whose values could not be saved for later ones, by operation.", []string{"operation"}, nil)

// Describe implements prometheus.Collector.
func (s *Store) Describe(out chan<- *prometheus.Desc) { out <- failuresDesc }

// Collect implements prometheus.Collector.
func (s *Store) Collect(out chan<- prometheus.Metric) {
	for i, name := range operations {
		out <- prometheus.MustNewConstMetric(failuresDesc, prometheus.CounterValue, float64(s.failures[i].Load()), name)
	}
}
