package objects

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Err returns why the store is currently not used; nil while it is. Health shows it.
func (b *Bucket) Err() error { return b.breaker.open() }

var (
	upDesc       = prometheus.NewDesc("sluice_log_objects_up", "1 if the object store of the log is in use; 0 while its circuit breaker is open.", nil, nil)
	callsDesc    = prometheus.NewDesc("sluice_log_objects_calls_total", "Requests to the object store of the log.", []string{"call"}, nil)
	failuresDesc = prometheus.NewDesc("sluice_log_objects_failures_total", "Failed requests to the object store of the log.", []string{"call"}, nil)
	bytesDesc    = prometheus.NewDesc("sluice_log_objects_bytes_total", "Bytes sent to and received from the object store of the log.", []string{"direction"}, nil)
)

// Describe sends the descriptions of the metrics.
func (b *Bucket) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{upDesc, callsDesc, failuresDesc, bytesDesc} {
		ch <- d
	}
}

// Collect sends the metrics.
func (b *Bucket) Collect(ch chan<- prometheus.Metric) {
	up := 1.0
	if b.Err() != nil {
		up = 0
	}
	ch <- prometheus.MustNewConstMetric(upDesc, prometheus.GaugeValue, up)
	for i, name := range opNames {
		ch <- prometheus.MustNewConstMetric(callsDesc, prometheus.CounterValue, float64(b.counts.done[i].Load()), name)
		ch <- prometheus.MustNewConstMetric(failuresDesc, prometheus.CounterValue, float64(b.counts.failed[i].Load()), name)
	}
	ch <- prometheus.MustNewConstMetric(bytesDesc, prometheus.CounterValue, float64(b.counts.sent.Load()), "sent")
	ch <- prometheus.MustNewConstMetric(bytesDesc, prometheus.CounterValue, float64(b.counts.received.Load()), "received")
}
