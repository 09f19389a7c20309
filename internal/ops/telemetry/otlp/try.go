package otlp

import (
	"context"

	collectmetrics "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	collecttrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"sluice/internal/kernel/ident"
)

// TryTraces sends a collector a message without spans, once. The error states why the collector
// did not accept it, or which part of the target is invalid.
func TryTraces(ctx context.Context, t Target) error {
	return t.try(ctx, traces, &collecttrace.ExportTraceServiceRequest{}, &collecttrace.ExportTraceServiceResponse{})
}

// TryMetrics sends a collector a message without metrics, once. It returns the same errors as
// TryTraces.
func TryMetrics(ctx context.Context, t Target) error {
	return t.try(ctx, metrics, &collectmetrics.ExportMetricsServiceRequest{}, &collectmetrics.ExportMetricsServiceResponse{})
}

func (t Target) try(ctx context.Context, s signal, message, response proto.Message) error {
	c, err := newClient(t, s, ident.System{})
	if err != nil {
		return err
	}
	defer c.close()
	return c.send(ctx, message, response)
}
