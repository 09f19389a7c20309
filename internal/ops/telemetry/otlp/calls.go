package otlp

import (
	"slices"

	metric "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"sluice/internal/domain/record"
	"sluice/internal/ops/telemetry"
	"sluice/internal/ops/telemetry/genai"
)

// callMetrics are the histograms that the conventions define for clients of models.
// Source: OpenTelemetry semantic conventions 1.40.0, gen-ai metrics.
type callMetrics struct {
	seconds histogram
	tokens  histogram
	models  map[string]bool
}

// maxModels is the maximum number of models with separate series, because callers choose their
// names.
const maxModels = 200

func newCallMetrics() *callMetrics {
	return &callMetrics{
		seconds: histogram{name: "gen_ai.client.operation.duration", unit: "s", help: "GenAI operation duration.",
			bounds: []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}},
		tokens: histogram{name: "gen_ai.client.token.usage", unit: "{token}", help: "Number of input and output tokens used.",
			bounds: []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}},
		models: make(map[string]bool),
	}
}

// add counts an attempt that was sent upstream.
func (c *callMetrics) add(a *record.Attempt) {
	if a.Outcome == record.Refused || a.Provider == "" {
		return
	}
	labelSet := labelled{genai.Operation(a.Endpoint), genai.Provider(a.Provider), c.model(a.Model), errorOf(a), ""}
	c.seconds.add(labelSet, a.Duration.Seconds())
	if !a.Usage.Reported {
		return
	}
	labelSet.failure = ""
	for kind, n := range map[string]int64{"input": a.Usage.InputTokens, "output": a.Usage.OutputTokens} {
		labelSet.tokens = kind
		c.tokens.add(labelSet, float64(n))
	}
}

// model returns the name, or telemetry.Other once there are too many.
func (c *callMetrics) model(name string) string {
	if !c.models[name] {
		if len(c.models) >= maxModels {
			return telemetry.Other
		}
		c.models[name] = true
	}
	return name
}

func (c *callMetrics) points() int { return len(c.seconds.series) + len(c.tokens.series) }

func (c *callMetrics) metrics(period span) (out []*metric.Metric) {
	for _, h := range []*histogram{&c.seconds, &c.tokens} {
		if len(h.series) > 0 {
			out = append(out, h.metric(period))
		}
	}
	return out
}

// labelled contains the attributes of a series.
type labelled struct{ operation, provider, model, failure, tokens string }

// histogram counts by attributes.
type histogram struct {
	name, unit, help string
	bounds           []float64
	series           map[labelled]*metric.HistogramDataPoint
}

func (h *histogram) add(labelSet labelled, v float64) {
	p := h.series[labelSet]
	if p == nil {
		var a attributes
		a.text(genai.OperationName, labelSet.operation)
		a.text(genai.ProviderName, labelSet.provider)
		a.text(genai.RequestModel, labelSet.model)
		a.text(genai.ErrorType, labelSet.failure)
		a.text("gen_ai.token.type", labelSet.tokens)
		p = &metric.HistogramDataPoint{Attributes: a, Sum: new(float64), ExplicitBounds: h.bounds, BucketCounts: make([]uint64, len(h.bounds)+1)}
		if h.series == nil {
			h.series = make(map[labelled]*metric.HistogramDataPoint)
		}
		h.series[labelSet] = p
	}
	i, _ := slices.BinarySearch(h.bounds, v)
	p.BucketCounts[i]++
	p.Count++
	*p.Sum += v
}

func (h *histogram) metric(period span) *metric.Metric {
	data := &metric.Histogram{AggregationTemporality: cumulative}
	for _, p := range h.series {
		p.StartTimeUnixNano, p.TimeUnixNano = period.from, period.to
		data.DataPoints = append(data.DataPoints, p)
	}
	return &metric.Metric{Name: h.name, Unit: h.unit, Description: h.help, Data: &metric.Metric_Histogram{Histogram: data}}
}
