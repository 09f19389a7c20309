package app

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"sluice/internal/app/options"
	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/config"
	"sluice/internal/ops/telemetry/otlp"
)

// exporter sends one signal to a collector until its context ends.
type exporter struct {
	name string
	run  func(context.Context) error
}

// openTelemetry prepares the export to collectors. It reads the journal, so that requests do not
// wait for it.
func (a *requestLog) openTelemetry(context.Context) error {
	o := &a.set.OpenTelemetry
	if !o.Traces && !o.Push {
		return nil
	}
	counters := otlp.NewDeliveryCounters(a.metrics)
	if o.Traces {
		if err := a.sendTraces(o, counters); err != nil {
			return fmt.Errorf("send traces (EXPERIMENTAL_GEN_AI_OTEL_...): %w", err)
		}
	}
	if o.Push {
		if err := a.sendMetrics(o, counters); err != nil {
			return fmt.Errorf("send metrics (OTEL_...): %w", err)
		}
	}
	return nil
}

// sendTelemetry runs all exports to collectors. It stops them together, so that an unresponsive
// collector delays all signals once, by a few seconds.
func (a *requestLog) sendTelemetry(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	for _, p := range a.telemetry {
		all.Go(func() error {
			if err := p.run(ctx); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			return nil
		})
	}
	return all.Wait()
}

func (a *requestLog) sendTraces(o *config.OpenTelemetry, counters *otlp.DeliveryCounters) error {
	traces, err := otlp.NewTraces(otlp.TraceOptions{Options: a.collector(o, o.TracesEndpoint, o.TracesHeaders, o.TracesAttributes, counters), Content: o.CaptureContent})
	if err != nil {
		return err
	}
	a.telemetry = append(a.telemetry, exporter{"traces", traces.Run})
	return nil
}

func (a *requestLog) sendMetrics(o *config.OpenTelemetry, counters *otlp.DeliveryCounters) error {
	common := a.collector(o, o.Endpoint, o.Headers, o.ResourceAttributes, counters)
	common.Interval = o.Interval
	metrics, err := otlp.NewMetrics(otlp.MetricOptions{Options: common, Gather: a.metrics.Gather})
	if err != nil {
		return err
	}
	a.telemetry = append(a.telemetry, exporter{"metrics", metrics.Run})
	return nil
}

// collector returns the options of one export: its target, resource attributes and counters.
func (a *requestLog) collector(o *config.OpenTelemetry, endpoint string, headers sealed.String, attributes string, counters *otlp.DeliveryCounters) otlp.Options {
	return otlp.Options{
		Target:   options.Collector(o, endpoint, headers),
		Resource: otlp.Resource{Service: o.ServiceName, Version: a.version, Instance: a.journal.ID(), Attributes: attributes},
		Tail:     a.journal.Tail(),
		Counters: counters,
		Clock:    a.clock,
		Log:      a.log,
	}
}
