// Package otlp exports to an OpenTelemetry collector: Traces reads the journal and sends a
// span for each attempt, Metrics sends the metrics of /metrics. Messages that cannot be
// sent within the limit are dropped and counted; nothing waits for a collector.
//
// The package depends only on the message types of OTLP. gRPC is one HTTP/2 call with five
// bytes before the message, so it does not need a gRPC library.
// Source: contract/content-and-observability.md section 7; https://opentelemetry.io/docs/specs/otlp/.
package otlp
