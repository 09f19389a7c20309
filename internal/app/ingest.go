package app

import (
	"net/http"

	"sluice/internal/control/logs"
	"sluice/internal/kernel/wire"
	"sluice/internal/ops/telemetry/spans"
)

// ingest adds the routes to which applications send their own telemetry. Their base address is
// {base}/otel or {base}/logs/otel.
// Source: contract/content-and-observability.yaml, OTLP ingestion.
func (a *App) ingest(pages map[string]http.HandlerFunc) {
	v := spans.New(spans.Parts{
		Identify: a.identify, Journal: a.redactingJournal(), Prices: a.prices, RateLimiter: a.ingested, Refusal: wire.Refusal, BodyLogBytes: a.set.Logs.BodyMaxBytes(), Clock: a.clock,
	})
	for _, route := range logs.TelemetryPaths() {
		take := v.Traces
		if route.Logs {
			take = v.Logs
		}
		pages["/v1"+route.Path], pages["/v2"+route.Path] = take, take
	}
}
