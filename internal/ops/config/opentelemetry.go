package config

import (
	"time"

	"sluice/internal/kernel/sealed"
)

// OpenTelemetry sets what the gateway sends to a collector. docs/telemetry.md describes the
// content.
type OpenTelemetry struct {
	// Push sends the metrics of `GET /metrics` to `OTEL_ENDPOINT`, with the histograms of
	// the GenAI conventions.
	Push bool `env:"OTEL_PUSH_ENABLED" envDefault:"OFF"`

	// Interval is how often metrics are sent.
	Interval time.Duration `env:"OTEL_METRIC_EXPORT_INTERVAL" envDefault:"60000" range:"1000..3600000"`

	// Endpoint is the address of the collector, such as `http://collector:4318`. The
	// gateway appends `/v1/metrics` and `/v1/traces`. With `grpc` it appends no path, and
	// `http://` means a connection without TLS.
	Endpoint string `env:"OTEL_ENDPOINT" check:"web-url"`

	// Headers are headers to send to the collector, as comma-separated `name=value` pairs
	// with percent-encoded values.
	Headers sealed.String `env:"OTEL_EXPORTER_OTLP_HEADERS" check:"pairs"`

	// Protocol is the protocol for the collector.
	Protocol string `env:"OTEL_EXPORTER_OTLP_PROTOCOL" envDefault:"http/protobuf" oneof:"http/protobuf,http/json,grpc"`

	// ServiceName is the name of the gateway in the collector (`service.name`).
	ServiceName string `env:"OTEL_SERVICE_NAME" envDefault:"sluice"`

	// ResourceAttributes are additional attributes of the gateway, as comma-separated
	// `name=value` pairs.
	ResourceAttributes string `env:"OTEL_RESOURCE_ATTRIBUTES" check:"pairs"`

	// Traces sends a span for each provider call, after the call has ended.
	Traces bool `env:"EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED" envDefault:"OFF"`

	// TracesEndpoint is the address of the collector for spans. If it is empty, the gateway
	// uses `OTEL_ENDPOINT`.
	TracesEndpoint string `env:"EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT" check:"web-url"`

	// TracesHeaders are headers to send with spans. If it is empty and spans go to
	// `OTEL_ENDPOINT`, the gateway uses `OTEL_EXPORTER_OTLP_HEADERS`.
	TracesHeaders sealed.String `env:"EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_HEADERS" check:"pairs"`

	// TracesAttributes are attributes for spans that replace `OTEL_RESOURCE_ATTRIBUTES`.
	TracesAttributes string `env:"EXPERIMENTAL_GEN_AI_OTEL_RESOURCE_ATTRIBUTES" check:"pairs"`

	// ToProviders sends `traceparent` with each provider call, with the span of the attempt
	// as the parent. It also sends the caller's `tracestate`.
	ToProviders bool `env:"TRACE_CONTEXT_TO_PROVIDERS" envDefault:"OFF"`

	// CaptureContent adds the beginning of request and response bodies to spans. Bodies
	// contain what users wrote.
	CaptureContent bool `env:"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" envDefault:"OFF"`
}

// complete settles what spans take over from what holds for all.
func (o *OpenTelemetry) complete(derived func(name, from string)) {
	if o.TracesEndpoint == "" && o.Endpoint != "" {
		o.TracesEndpoint = o.Endpoint
		derived("EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_ENDPOINT")
		if o.TracesHeaders.Empty() && !o.Headers.Empty() {
			o.TracesHeaders = o.Headers
			derived("EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
		}
	}
	if o.TracesAttributes == "" && o.ResourceAttributes != "" {
		o.TracesAttributes = o.ResourceAttributes
		derived("EXPERIMENTAL_GEN_AI_OTEL_RESOURCE_ATTRIBUTES", "OTEL_RESOURCE_ATTRIBUTES")
	}
}

func (o *OpenTelemetry) validate(report reporter) {
	if o.Push && o.Endpoint == "" {
		report("OTEL_ENDPOINT", "is required with OTEL_PUSH_ENABLED", "the address of a collector")
	}
	if o.Traces && o.TracesEndpoint == "" {
		report("EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT", "is required with EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED", "the address of a collector")
	}
}
