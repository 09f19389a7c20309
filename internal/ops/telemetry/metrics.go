package telemetry

import (
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// Other is the label value that represents everything outside a label's set.
const Other = "other"

// Label is a dimension of a metric with the closed set of its values, for example {"provider",
// []string{"openai", "anthropic"}}. A value outside the set counts as Other, so that no caller
// can increase the number of series.
type Label struct {
	Name   string
	Values []string
}

// Registry contains the metrics of one process. Metrics are registered while the parts are built:
// registering a name twice panics.
type Registry struct{ reg *prometheus.Registry }

// NewRegistry returns a registry with the process and Go runtime collectors.
func NewRegistry() *Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return &Registry{reg}
}

// Handler serves the metrics in the Prometheus text formats. It does not authenticate.
func (r *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(r.reg, promhttp.HandlerOpts{Registry: r.reg, MaxRequestsInFlight: 4})
}

// Gather reads all metrics. With an error it returns those that could be read.
func (r *Registry) Gather() ([]*dto.MetricFamily, error) { return r.reg.Gather() }

// Describe sends the descriptions of all metrics, including those without a value yet, so that a
// Registry is itself a collector.
func (r *Registry) Describe(ch chan<- *prometheus.Desc) { r.reg.Describe(ch) }

// Register adds collectors of another part.
func (r *Registry) Register(cs ...prometheus.Collector) { r.reg.MustRegister(cs...) }

// Gauge registers a metric that is read when the metrics are: read must be fast and safe for
// concurrent use.
func (r *Registry) Gauge(name, help string, read func() float64) {
	r.reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// Total registers a counter whose value is stored elsewhere. It is read like a Gauge.
func (r *Registry) Total(name, help string, read func() float64) {
	r.reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, read))
}

// Counter counts events by labels. It is safe for concurrent use.
type Counter struct {
	sets sets
	vec  *prometheus.CounterVec
}

// Counter registers a counter; its name ends in _total.
func (r *Registry) Counter(name, help string, labels ...Label) *Counter {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, names(labels))
	r.reg.MustRegister(vec)
	return &Counter{newSets(labels), vec}
}

// Add adds n, at least 0, with one value per label in the order of registration. A wrong number
// of values panics.
func (c *Counter) Add(n float64, values ...string) { c.With(values...).Add(n) }

// With returns the series of these values; store it where it is used often.
func (c *Counter) With(values ...string) prometheus.Counter {
	return c.vec.WithLabelValues(c.sets.replaceUnknown(values)...)
}

// Histogram collects durations in seconds, or sizes, by labels. It is safe for concurrent use.
type Histogram struct {
	sets sets
	vec  *prometheus.HistogramVec
}

// Histogram registers a histogram; its name ends in the unit, as _seconds. The upper bounds of
// the buckets increase; nil means Latency.
func (r *Registry) Histogram(name, help string, buckets []float64, labels ...Label) *Histogram {
	if buckets == nil {
		buckets = Latency()
	}
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, names(labels))
	r.reg.MustRegister(vec)
	return &Histogram{newSets(labels), vec}
}

// Observe records v, with values as for Counter.Add.
func (h *Histogram) Observe(v float64, values ...string) { h.With(values...).Observe(v) }

// With returns the series of these values; store it where it is used often.
func (h *Histogram) With(values ...string) prometheus.Observer {
	return h.vec.WithLabelValues(h.sets.replaceUnknown(values)...)
}

// Latency returns upper bounds, in seconds, that suit both the gateway's milliseconds and a
// model's minutes: 1 ms to 5 min.
func Latency() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}
}

func names(labels []Label) []string {
	out := make([]string, len(labels))
	for i, l := range labels {
		out[i] = l.Name
	}
	return out
}

// sets are the allowed values of each label, in the order of registration.
type sets []map[string]bool

func newSets(labels []Label) sets {
	out := make(sets, len(labels))
	for i, l := range labels {
		out[i] = make(map[string]bool, len(l.Values))
		for _, v := range l.Values {
			out[i][v] = true
		}
	}
	return out
}

// replaceUnknown returns values with the unknown ones replaced. It copies them first, so that the
// caller's slice does not change.
func (s sets) replaceUnknown(values []string) []string {
	copied := false
	for i, v := range values {
		if i >= len(s) || s[i][v] {
			continue
		}
		if !copied {
			values, copied = slices.Clone(values), true
		}
		values[i] = Other
	}
	return values
}
