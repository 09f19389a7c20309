package otlp_test

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collectmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	metric "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/grpc"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/ident"
	"sluice/internal/ops/telemetry"
	"sluice/internal/ops/telemetry/otlp"
	"sluice/internal/storage/journal"
)

// meters takes figures over gRPC, as a collector does.
type meters struct {
	collectmetrics.UnimplementedMetricsServiceServer
	got chan *collectmetrics.ExportMetricsServiceRequest
}

// Export takes a message.
func (m *meters) Export(_ context.Context, r *collectmetrics.ExportMetricsServiceRequest) (*collectmetrics.ExportMetricsServiceResponse, error) {
	m.got <- r
	return &collectmetrics.ExportMetricsServiceResponse{}, nil
}

// A collector gets the figures of /metrics and those of the GenAI conventions.
func TestFiguresAsACollectorGetsThem(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c, s, served := &meters{got: make(chan *collectmetrics.ExportMetricsServiceRequest, 10)}, grpc.NewServer(), make(chan struct{})
	collectmetrics.RegisterMetricsServiceServer(s, c)
	go func() { defer close(served); assert.NoError(t, s.Serve(l)) }()
	t.Cleanup(func() { s.Stop(); <-served })

	j, err := journal.Open(journal.Options{Dir: filepath.Join(t.TempDir(), "journal")})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, j.Close()) })
	registry := telemetry.NewRegistry()
	requests := registry.Counter("sluice_test_total", "Tests.", telemetry.Label{Name: "kind", Values: []string{"good"}})
	requests.Add(3, "good")
	seconds := registry.Histogram("sluice_test_seconds", "Time.", []float64{1, 10})
	for _, v := range []float64{.5, 1, 5, 100} {
		seconds.Observe(v)
	}
	m, err := otlp.NewMetrics(otlp.MetricOptions{
		Options: otlp.Options{
			Target: otlp.Target{Endpoint: "http://" + l.Addr().String(), Protocol: otlp.GRPC}, Resource: otlp.Resource{Service: "sluice"}, Interval: time.Hour,
			Tail: j.Tail(), Counters: otlp.NewDeliveryCounters(registry), Clock: ident.System{}, Log: slog.New(slog.DiscardHandler),
		},
		Gather: registry.Gather,
	})
	require.NoError(t, err)
	for n := range 3 {
		a := recordtest.Chat(n)
		if n == 2 {
			a.Outcome, a.Status, a.Usage.Reported = record.Failed, 503, false
		}
		require.NoError(t, j.Append(a))
	}
	reported := recordtest.Chat(9)
	reported.Source = record.FromOTLP // the application counts it itself
	require.NoError(t, j.Append(reported))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, m.Run(ctx)) // sends what there is and ends

	got := map[string]*metric.Metric{}
	for _, one := range (<-c.got).ResourceMetrics[0].ScopeMetrics[0].Metrics {
		got[one.Name] = one
	}
	sum := got["sluice_test_total"].GetSum()
	require.NotNil(t, sum)
	assert.True(t, sum.IsMonotonic)
	assert.Equal(t, metric.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, sum.AggregationTemporality)
	assert.Equal(t, 3.0, sum.DataPoints[0].GetAsDouble())
	assert.Equal(t, map[string]string{"kind": "good"}, texts(sum.DataPoints[0].Attributes))
	h := got["sluice_test_seconds"].GetHistogram().DataPoints[0]
	assert.Equal(t, "s", got["sluice_test_seconds"].Unit)
	assert.Equal(t, []float64{1, 10}, h.ExplicitBounds)
	assert.Equal(t, []uint64{2, 1, 1}, h.BucketCounts)
	assert.InDelta(t, 106.5, h.GetSum(), 1e-9)
	assert.NotNil(t, got["go_goroutines"].GetGauge())
	assert.NotNil(t, got["go_gc_duration_seconds"].GetSummary())

	durations := got["gen_ai.client.operation.duration"].GetHistogram().DataPoints
	require.Len(t, durations, 2)
	slices.SortFunc(durations, func(a, b *metric.HistogramDataPoint) int { return int(b.Count) - int(a.Count) })
	assert.Equal(t, uint64(2), durations[0].Count)
	assert.Equal(t, map[string]string{"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o-mini"}, texts(durations[0].Attributes))
	assert.Equal(t, "503", texts(durations[1].Attributes)["error.type"])
	tokens := got["gen_ai.client.token.usage"].GetHistogram().DataPoints
	require.Len(t, tokens, 2)
	for _, p := range tokens {
		assert.Equal(t, map[string]float64{"input": 240, "output": 96}[texts(p.Attributes)["gen_ai.token.type"]], p.GetSum())
	}
}
