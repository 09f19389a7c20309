package app

import (
	"net/http"

	"sluice/internal/telemetry/spans"
)

// ingest is where applications send telemetry of their own: below the base address
// {base}/otel, or {base}/logs/otel.
// Source: contract/content-and-observability.yaml, OTLP ingestion.
func (a *App) ingest(pages map[string]http.HandlerFunc) {
	v := spans.New(spans.Parts{
		Identify: a.identify, Journal: a.discreet(), Prices: a.prices, Refuse: writeFault, BodyLogBytes: a.set.Logs.BodyMaxBytes(), Clock: a.clock,
	})
	for _, base := range []string{"/v1/otel", "/v1/logs/otel"} {
		pages[base], pages[base+"/v1/traces"], pages[base+"/v1/logs"] = v.Traces, v.Traces, v.Logs
	}
}
