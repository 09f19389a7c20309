package store

import "github.com/prometheus/client_golang/prometheus"

// metric is one figure of a store, or one label value of it.
type metric struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	labels []string
	value  func(*Stats) int64
}

// Collector exports the Stats of a store at each scrape. Unknown figures are omitted.
type Collector struct {
	store   Store
	metrics []metric
}

// NewCollector returns the metrics of a store. kind is the value of the label store: "memory",
// "disk" or "redis".
func NewCollector(s Store, kind string) *Collector {
	c := &Collector{store: s}
	gauge := func(name, help string, value func(*Stats) int64) {
		c.metrics = append(c.metrics, metric{describe(name, help, kind), prometheus.GaugeValue, nil, value})
	}
	counter := func(desc *prometheus.Desc, value func(*Stats) int64, labels ...string) {
		c.metrics = append(c.metrics, metric{desc, prometheus.CounterValue, labels, value})
	}
	gauge("entries", "Responses in the cache.", func(s *Stats) int64 { return s.Entries })
	gauge("bytes", "Size of the responses in the cache.", func(s *Stats) int64 { return s.Bytes })
	lookups := describe("lookups_total", "Lookups in the cache, by result.", kind, "result")
	counter(lookups, func(s *Stats) int64 { return s.Hits }, "hit")
	counter(lookups, func(s *Stats) int64 { return s.Misses }, "miss")
	counter(describe("stored_total", "Responses that were stored.", kind), func(s *Stats) int64 { return s.Stored })
	counter(describe("dropped_total", "Responses that were too large to be stored, or more than the store can write.", kind), func(s *Stats) int64 { return s.Dropped })
	removed := describe("removed_total", "Responses that were removed, by cause.", kind, "cause")
	counter(removed, func(s *Stats) int64 { return s.Evictions }, "evicted")
	counter(removed, func(s *Stats) int64 { return s.Expired }, "expired")
	counter(removed, func(s *Stats) int64 { return s.Corrupt }, "corrupt")
	counter(describe("failures_total", "Operations of the store that failed or took too long.", kind), func(s *Stats) int64 { return s.Failures })
	return c
}

func describe(name, help, kind string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("sluice_cache_"+name, help, labels, prometheus.Labels{"store": kind})
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		out <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	s := c.store.Stats()
	for _, m := range c.metrics {
		if n := m.value(&s); n != Unknown {
			out <- prometheus.MustNewConstMetric(m.desc, m.kind, float64(n), m.labels...)
		}
	}
}
