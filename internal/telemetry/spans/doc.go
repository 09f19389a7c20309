// Package spans takes in OpenTelemetry traces and logs of applications, so that they stand
// beside the gateway's own spans of the same trace. Spans of the GenAI conventions become
// records with tokens, model, provider and cost; others are kept as they are. Everything
// goes through the journal, as what the gateway serves does.
// Source: contract/content-and-observability.md section 7; https://opentelemetry.io/docs/specs/otlp/.
package spans
