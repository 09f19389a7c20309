package app

import (
	"context"
	"log/slog"

	"sluice/internal/config"
	"sluice/internal/sealed"
	"sluice/internal/telemetry/otlp"
)

// checkCollectors sends empty messages to the telemetry collectors.
func checkCollectors(ctx context.Context, s config.Settings, _ *slog.Logger) (out []Finding) {
	o := &s.OpenTelemetry
	check := func(what, endpoint string, headers sealed.String, try func(context.Context, otlp.Target) error, hint string) {
		err := try(ctx, collectorAt(o, endpoint, headers))
		out = append(out, Finding{Subject: "collector", Detail: endpoint + " accepts " + what, Err: err, Hint: hint})
	}
	if o.Traces {
		check("spans", o.TracesEndpoint, o.TracesHeaders, otlp.TryTraces,
			"check EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT and _HEADERS, or OTEL_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS if those are unset, and OTEL_EXPORTER_OTLP_PROTOCOL")
	}
	if o.Push {
		check("metrics", o.Endpoint, o.Headers, otlp.TryMetrics, "check OTEL_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS and OTEL_EXPORTER_OTLP_PROTOCOL")
	}
	if len(out) == 0 {
		out = []Finding{{Subject: "collector", Detail: "no collector is used (OTEL_PUSH_ENABLED, EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED)"}}
	}
	return out
}

// collectorAt returns the collector that the settings configure.
func collectorAt(o *config.OpenTelemetry, endpoint string, headers sealed.String) otlp.Target {
	return otlp.Target{Endpoint: endpoint, Protocol: otlp.Protocol(o.Protocol), Headers: headers}
}
