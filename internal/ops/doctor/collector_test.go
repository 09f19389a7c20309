package doctor

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/config"
)

// Doctor tries the collectors that are in use, as what is sent to them would go, and says
// which settings to look at.
func TestDoctorTriesCollectors(t *testing.T) {
	t.Parallel()
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Api-Key") != "right" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer collector.Close()
	found := func(o config.OpenTelemetry) string {
		var report string
		for _, f := range (Collectors{o}).Run(t.Context()) {
			report += marked(f) + "\n"
		}
		return report
	}
	wants(t, found(config.OpenTelemetry{}), "no collector is used")

	o := config.OpenTelemetry{
		Protocol: "http/protobuf", Push: true, Endpoint: collector.URL, Headers: sealed.New("api-key=right"),
		Traces: true, TracesEndpoint: collector.URL, TracesHeaders: sealed.New("api-key=right"),
	}
	wants(t, found(o), collector.URL+" accepts spans", collector.URL+" accepts metrics")
	o.TracesHeaders = sealed.New("api-key=wrong")
	wants(t, found(o), "FAIL status 401", "EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL+" accepts metrics")
	o.Traces, o.Endpoint = false, "http://127.0.0.1:1"
	wants(t, found(o), "FAIL no response", "check OTEL_ENDPOINT")
}
