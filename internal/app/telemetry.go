package app

import (
	"context"
	"fmt"

	"sluice/internal/config"
	"sluice/internal/telemetry/otlp"
)

// openTelemetry prepares what is sent to a collector. It follows the journal, so that no
// request pays for it.
func (a *App) openTelemetry(context.Context) error {
	o := &a.set.OpenTelemetry
	if !o.Traces {
		return nil
	}
	spans, err := otlp.NewTraces(otlp.TraceOptions{
		Target:   otlp.Target{Endpoint: o.TracesEndpoint, Protocol: otlp.Protocol(o.Protocol), Headers: o.TracesHeaders},
		Resource: a.resourceOf(o, o.TracesAttributes),
		Content:  o.CaptureContent,
		Tail:     a.journal.Tail(),
		Figures:  otlp.NewFigures(a.metrics),
		Clock:    a.clock,
		Log:      a.log,
	})
	if err != nil {
		return fmt.Errorf("send traces (EXPERIMENTAL_GEN_AI_OTEL_...): %w", err)
	}
	a.telemetry = append(a.telemetry, part{"traces", spans.Run})
	return nil
}

// resourceOf is what the collector knows this node by.
func (a *App) resourceOf(o *config.OpenTelemetry, attributes string) otlp.Resource {
	return otlp.Resource{Service: o.ServiceName, Version: a.version, Instance: a.journal.ID(), Attributes: attributes}
}
