package otlp

import (
	"context"
	"fmt"
	"time"

	dto "github.com/prometheus/client_model/go"
	collectmetrics "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metric "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/background"
	"sluice/internal/ops/telemetry/genai"
)

// MetricOptions configure the export of metrics. Interval is usually a minute.
type MetricOptions struct {
	Options
	// Gather returns the metrics of /metrics. Metrics that it returns with an error are sent too.
	Gather func() ([]*dto.MetricFamily, error)
}

// Metrics sends the metrics of /metrics, under the same names, and the two histograms of the
// GenAI conventions, which are computed from the journal.
type Metrics struct {
	o        MetricOptions
	sender   *sender
	resource *metric.ResourceMetrics // with everything except the metrics
	began    uint64
	position record.Position
	calls    *callMetrics
}

// NewMetrics does not connect; it returns the same errors as NewTraces.
func NewMetrics(o MetricOptions) (*Metrics, error) {
	if o.Interval == 0 {
		o.Interval = time.Minute
	}
	about, err := o.Resource.message()
	if err != nil {
		return nil, fmt.Errorf("resource attributes: %w", err)
	}
	c, err := newClient(o.Target, metrics, o.Clock)
	if err != nil {
		return nil, err
	}
	return &Metrics{
		o: o, sender: &sender{client: c, signal: metrics, counters: o.Counters, log: o.Log}, position: o.Tail.End(),
		began: uint64(o.Clock.Now().UnixNano()), calls: newCallMetrics(),
		resource: &metric.ResourceMetrics{Resource: about, SchemaUrl: genai.SchemaURL},
	}, nil
}

// readEvery is the time between two reads of the journal between messages, so that little of it
// is missed.
const readEvery = 5 * time.Second

// Run sends until ctx ends, then once more, for at most five seconds. It never fails.
func (m *Metrics) Run(ctx context.Context) error {
	defer m.sender.end()
	work, stop := withGracePeriod(ctx, drainLimit)
	defer stop()
	for due := m.o.Clock.Now().Add(m.o.Interval); background.Sleep(ctx, min(m.o.Interval, readEvery)) == nil; {
		m.read()
		if now := m.o.Clock.Now(); !now.Before(due) {
			m.send(work)
			due = now.Add(m.o.Interval)
		}
	}
	m.read()
	m.send(work)
	return nil
}

func (m *Metrics) read() {
	next, missed := m.o.Tail.Read(m.position, func(e record.Entry) bool {
		if a := e.Attempt; a != nil && a.Source.Served() {
			m.calls.add(a)
		}
		return true
	})
	m.position = next
	if missed > 0 {
		m.o.Counters.dropped.Add(float64(missed), metrics.name, droppedMissed)
	}
}

func (m *Metrics) send(ctx context.Context) {
	families, err := m.o.Gather()
	if err != nil {
		m.o.Log.Warn("cannot read some metrics; exporting the rest", "error", err.Error())
	}
	at := span{m.began, uint64(m.o.Clock.Now().UnixNano())}
	list := m.calls.metrics(at)
	points := m.calls.points()
	for _, f := range families {
		if c := converted(f, at); c != nil {
			list = append(list, c)
			points += len(f.GetMetric())
		}
	}
	m.resource.ScopeMetrics = []*metric.ScopeMetrics{{Scope: &common.InstrumentationScope{Name: "sluice"}, Metrics: list}}
	var response collectmetrics.ExportMetricsServiceResponse
	m.sender.deliver(ctx, &collectmetrics.ExportMetricsServiceRequest{ResourceMetrics: []*metric.ResourceMetrics{m.resource}}, points, &response, func() (int64, string) {
		p := response.GetPartialSuccess()
		return p.GetRejectedDataPoints(), p.GetErrorMessage()
	})
}
