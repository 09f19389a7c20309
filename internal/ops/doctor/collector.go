package doctor

import (
	"context"

	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/config"
	"sluice/internal/ops/telemetry/otlp"
)

// Collectors sends empty messages to the telemetry collectors.
type Collectors struct{ Settings config.OpenTelemetry }

// Run implements Check. It returns a finding for each kind of message.
func (c Collectors) Run(ctx context.Context) (out []Finding) {
	o := &c.Settings
	check := func(what, endpoint string, headers sealed.String, try func(context.Context, otlp.Target) error, hint string) {
		err := try(ctx, otlp.Target{Endpoint: endpoint, Protocol: otlp.Protocol(o.Protocol), Headers: headers})
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
