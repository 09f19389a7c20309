package otlp

import (
	"math"
	"strings"

	dto "github.com/prometheus/client_model/go"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metric "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
)

// span is the period of the metrics, in nanoseconds since 1970: counts started at from.
type span struct{ from, to uint64 }

// converted returns a Prometheus metric in the form of OTLP; nil for a type that OTLP lacks.
// Source: https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/.
func converted(f *dto.MetricFamily, period span) *metric.Metric {
	m := &metric.Metric{Name: f.GetName(), Description: f.GetHelp(), Unit: unit(f.GetName())}
	switch f.GetType() {
	case dto.MetricType_COUNTER:
		m.Data = &metric.Metric_Sum{Sum: &metric.Sum{IsMonotonic: true, AggregationTemporality: cumulative,
			DataPoints: numbers(f, period, func(d *dto.Metric) float64 { return d.GetCounter().GetValue() })}}
	case dto.MetricType_GAUGE:
		m.Data = &metric.Metric_Gauge{Gauge: &metric.Gauge{DataPoints: numbers(f, period, func(d *dto.Metric) float64 { return d.GetGauge().GetValue() })}}
	case dto.MetricType_UNTYPED:
		m.Data = &metric.Metric_Gauge{Gauge: &metric.Gauge{DataPoints: numbers(f, period, func(d *dto.Metric) float64 { return d.GetUntyped().GetValue() })}}
	case dto.MetricType_HISTOGRAM:
		m.Data = &metric.Metric_Histogram{Histogram: &metric.Histogram{AggregationTemporality: cumulative, DataPoints: histograms(f, period)}}
	case dto.MetricType_SUMMARY:
		m.Data = &metric.Metric_Summary{Summary: &metric.Summary{DataPoints: summaries(f, period)}}
	case dto.MetricType_GAUGE_HISTOGRAM:
		return nil
	}
	return m
}

const cumulative = metric.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE

// unit returns the unit at the end of a name, in UCUM.
func unit(name string) string {
	name = strings.TrimSuffix(name, "_total")
	for suffix, u := range map[string]string{"_seconds": "s", "_bytes": "By", "_dollars": "USD"} {
		if strings.HasSuffix(name, suffix) {
			return u
		}
	}
	return ""
}

func labels(d *dto.Metric) []*common.KeyValue {
	var a attributes
	for _, l := range d.GetLabel() {
		a.text(l.GetName(), l.GetValue())
	}
	return a
}

func numbers(f *dto.MetricFamily, period span, value func(*dto.Metric) float64) []*metric.NumberDataPoint {
	out := make([]*metric.NumberDataPoint, 0, len(f.GetMetric()))
	for _, d := range f.GetMetric() {
		out = append(out, &metric.NumberDataPoint{
			Attributes: labels(d), StartTimeUnixNano: period.from, TimeUnixNano: period.to, Value: &metric.NumberDataPoint_AsDouble{AsDouble: value(d)},
		})
	}
	return out
}

// histograms have counts for each bucket; those of Prometheus are cumulative.
func histograms(f *dto.MetricFamily, period span) []*metric.HistogramDataPoint {
	out := make([]*metric.HistogramDataPoint, 0, len(f.GetMetric()))
	for _, d := range f.GetMetric() {
		h := d.GetHistogram()
		p := &metric.HistogramDataPoint{Attributes: labels(d), StartTimeUnixNano: period.from, TimeUnixNano: period.to, Count: h.GetSampleCount(), Sum: new(h.GetSampleSum())}
		var previous uint64
		for _, b := range h.GetBucket() {
			if math.IsInf(b.GetUpperBound(), 1) {
				continue
			}
			p.ExplicitBounds = append(p.ExplicitBounds, b.GetUpperBound())
			p.BucketCounts = append(p.BucketCounts, b.GetCumulativeCount()-previous)
			previous = b.GetCumulativeCount()
		}
		p.BucketCounts = append(p.BucketCounts, h.GetSampleCount()-previous)
		out = append(out, p)
	}
	return out
}

func summaries(f *dto.MetricFamily, period span) []*metric.SummaryDataPoint {
	out := make([]*metric.SummaryDataPoint, 0, len(f.GetMetric()))
	for _, d := range f.GetMetric() {
		s := d.GetSummary()
		p := &metric.SummaryDataPoint{Attributes: labels(d), StartTimeUnixNano: period.from, TimeUnixNano: period.to, Count: s.GetSampleCount(), Sum: s.GetSampleSum()}
		for _, q := range s.GetQuantile() {
			p.QuantileValues = append(p.QuantileValues, &metric.SummaryDataPoint_ValueAtQuantile{Quantile: q.GetQuantile(), Value: q.GetValue()})
		}
		out = append(out, p)
	}
	return out
}
