// Package otlp sends what the gateway did to an OpenTelemetry collector: a span for each
// attempt, by following the journal, and the figures of /metrics. It is written on the
// messages of OTLP alone; gRPC is one HTTP/2 call with five bytes before the message, for
// which no further library is linked. What cannot be sent within a bound is dropped and
// counted: nothing waits for a collector.
// Source: contract/content-and-observability.md section 7; https://opentelemetry.io/docs/specs/otlp/.
package otlp
