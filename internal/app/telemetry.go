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
	if !o.Traces && !o.Push {
		return nil
	}
	figures := otlp.NewFigures(a.metrics)
	if o.Traces {
		if err := a.sendTraces(o, figures); err != nil {
			return fmt.Errorf("send traces (EXPERIMENTAL_GEN_AI_OTEL_...): %w", err)
		}
	}
	if o.Push {
		if err := a.sendMetrics(o, figures); err != nil {
			return fmt.Errorf("send metrics (OTEL_...): %w", err)
		}
	}
	return nil
}

func (a *App) sendTraces(o *config.OpenTelemetry, figures *otlp.Figures) error {
	traces, err := otlp.NewTraces(otlp.TraceOptions{
		Target:   otlp.Target{Endpoint: o.TracesEndpoint, Protocol: otlp.Protocol(o.Protocol), Headers: o.TracesHeaders},
		Resource: a.resourceOf(o, o.TracesAttributes),
		Content:  o.CaptureContent,
		Tail:     a.journal.Tail(),
		Figures:  figures,
		Clock:    a.clock,
		Log:      a.log,
	})
	if err != nil {
		return err
	}
	a.telemetry = append(a.telemetry, part{"traces", traces.Run})
	return nil
}

func (a *App) sendMetrics(o *config.OpenTelemetry, figures *otlp.Figures) error {
	metrics, err := otlp.NewMetrics(otlp.MetricOptions{
		Target:   otlp.Target{Endpoint: o.Endpoint, Protocol: otlp.Protocol(o.Protocol), Headers: o.Headers},
		Resource: a.resourceOf(o, o.ResourceAttributes),
		Interval: o.Interval,
		Gather:   a.metrics.Gather,
		Tail:     a.journal.Tail(),
		Figures:  figures,
		Clock:    a.clock,
		Log:      a.log,
	})
	if err != nil {
		return err
	}
	a.telemetry = append(a.telemetry, part{"metrics", metrics.Run})
	return nil
}

// resourceOf is what the collector knows this node by.
func (a *App) resourceOf(o *config.OpenTelemetry, attributes string) otlp.Resource {
	return otlp.Resource{Service: o.ServiceName, Version: a.version, Instance: a.journal.ID(), Attributes: attributes}
}
