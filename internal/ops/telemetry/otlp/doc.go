// Package otlp exports to an OpenTelemetry collector: Traces reads the journal and sends a
// span for each attempt and for each of its guardrails, Metrics sends the metrics of /metrics. Messages that cannot be
// sent within the limit are dropped and counted; nothing waits for a collector.
//
// The package depends only on the message types of OTLP. gRPC is one HTTP/2 call with five
// bytes before the message, so it does not need a gRPC library. The OpenTelemetry exporters are not
// used: they report rejected spans only as an error text, so sluice_otlp_sent_total could not be
// exact, and their metric exporters accept the metrics of their own SDK only. http/json would need
// this sender anyway. test/otlp checks each protocol against a real collector.
// Source: contract/content-and-observability.md section 7; https://opentelemetry.io/docs/specs/otlp/.
package otlp
