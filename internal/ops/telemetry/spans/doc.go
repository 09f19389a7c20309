// Package spans receives OpenTelemetry traces and logs from applications, so that they
// appear next to the gateway's own spans of the same trace. Spans that follow the GenAI
// conventions become records with tokens, model, provider and cost; other spans are stored
// unchanged. All records go through the journal, like those of requests that the gateway
// serves. Start reading with Receiver.
// Source: contract/content-and-observability.md section 7; https://opentelemetry.io/docs/specs/otlp/.
package spans
