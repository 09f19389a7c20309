package config

import (
	"time"

	"sluice/internal/sealed"
)

// OpenTelemetry is about what is sent to a collector. docs/telemetry.md
// says what is in them.
type OpenTelemetry struct {
	// Push sends the figures of `GET /metrics` to `OTEL_ENDPOINT`, and the histograms of
	// the GenAI conventions.
	Push bool `env:"OTEL_PUSH_ENABLED" envDefault:"OFF"`

	// Interval is how often figures are sent.
	Interval time.Duration `env:"OTEL_METRIC_EXPORT_INTERVAL" envDefault:"60000" range:"1000..3600000"`

	// Endpoint is the collector, such as `http://collector:4318`. The paths `/v1/metrics`
	// and `/v1/traces` are added; with `grpc` there is none, and `http://` stands for a
	// connection without TLS.
	Endpoint string `env:"OTEL_ENDPOINT" check:"web-url"`

	// Headers are sent along, as `name=value` pairs with commas between, values
	// percent-encoded.
	Headers sealed.String `env:"OTEL_EXPORTER_OTLP_HEADERS" check:"pairs"`

	// Protocol is how the collector is spoken to.
	Protocol string `env:"OTEL_EXPORTER_OTLP_PROTOCOL" envDefault:"http/protobuf" oneof:"http/protobuf,http/json,grpc"`

	// ServiceName is what the collector knows the gateway by (`service.name`).
	ServiceName string `env:"OTEL_SERVICE_NAME" envDefault:"sluice"`

	// ResourceAttributes are further attributes of the gateway, as `name=value` pairs with
	// commas between.
	ResourceAttributes string `env:"OTEL_RESOURCE_ATTRIBUTES" check:"pairs"`

	// Traces sends a span of each call to a provider, after it ended.
	Traces bool `env:"EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED" envDefault:"OFF"`

	// TracesEndpoint is the collector of spans. Empty means `OTEL_ENDPOINT`.
	TracesEndpoint string `env:"EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT" check:"web-url"`

	// TracesHeaders are sent along with spans. Empty means `OTEL_EXPORTER_OTLP_HEADERS`
	// when spans go to `OTEL_ENDPOINT`.
	TracesHeaders sealed.String `env:"EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_HEADERS" check:"pairs"`

	// TracesAttributes are the further attributes in place of `OTEL_RESOURCE_ATTRIBUTES`
	// with spans.
	TracesAttributes string `env:"EXPERIMENTAL_GEN_AI_OTEL_RESOURCE_ATTRIBUTES" check:"pairs"`

	// ToProviders sends `traceparent` with each call to a provider, the span of the attempt
	// as the parent, and the caller's `tracestate`.
	ToProviders bool `env:"TRACE_CONTEXT_TO_PROVIDERS" envDefault:"OFF"`

	// CaptureContent puts the beginning of request and response bodies into spans. They
	// hold what users wrote.
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
		report("OTEL_ENDPOINT", "is missing beside OTEL_PUSH_ENABLED", "the address of a collector")
	}
	if o.Traces && o.TracesEndpoint == "" {
		report("EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT", "is missing beside EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED", "the address of a collector")
	}
}
