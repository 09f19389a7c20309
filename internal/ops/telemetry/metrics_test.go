package telemetry_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"

	"sluice/internal/ops/telemetry"
)

// scrape gives the lines of the metrics that begin with prefix.
func scrape(t *testing.T, r *telemetry.Registry, prefix string) []string {
	t.Helper()
	recorder := httptest.NewRecorder()
	r.Handler().ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	assert.Equal(t, 200, recorder.Code)
	var lines []string
	for line := range strings.Lines(recorder.Body.String()) {
		if strings.HasPrefix(line, prefix) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func TestLabelsAreBounded(t *testing.T) {
	t.Parallel()
	r := telemetry.NewRegistry()
	c := r.Counter("sluice_requests_total", "Requests.",
		telemetry.Label{Name: "provider", Values: []string{"openai", "groq"}},
		telemetry.Label{Name: "code", Values: []string{"200", "500"}})
	values := []string{"made-up", "200"}
	c.Add(1, "openai", "200")
	c.Add(2, "openai", "200")
	c.Add(1, values...)
	c.Add(1, "another", "299")
	assert.Equal(t, []string{"made-up", "200"}, values, "the caller's values stay as they are")
	assert.Equal(t, []string{
		`sluice_requests_total{code="200",provider="openai"} 3`,
		`sluice_requests_total{code="200",provider="other"} 1`,
		`sluice_requests_total{code="other",provider="other"} 1`,
	}, scrape(t, r, "sluice_requests_total"))
	assert.Panics(t, func() { c.Add(1, "openai") }, "a value per label")
}

func TestHistogramsAndReadFigures(t *testing.T) {
	t.Parallel()
	r := telemetry.NewRegistry()
	h := r.Histogram("sluice_request_seconds", "Time.", nil, telemetry.Label{Name: "endpoint", Values: []string{"chatComplete"}})
	h.Observe(0.003, "chatComplete")
	h.Observe(400, "chatComplete")
	lines := scrape(t, r, "sluice_request_seconds")
	assert.Contains(t, lines, `sluice_request_seconds_bucket{endpoint="chatComplete",le="0.0025"} 0`)
	assert.Contains(t, lines, `sluice_request_seconds_bucket{endpoint="chatComplete",le="0.005"} 1`)
	assert.Contains(t, lines, `sluice_request_seconds_bucket{endpoint="chatComplete",le="300"} 1`)
	assert.Contains(t, lines, `sluice_request_seconds_count{endpoint="chatComplete"} 2`)

	r.Gauge("sluice_streams_open", "Open streams.", func() float64 { return 7 })
	r.Total("sluice_journal_records_total", "Records.", func() float64 { return 9 })
	r.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "sluice_own"}, func() float64 { return 1 }))
	assert.Equal(t, []string{"sluice_streams_open 7"}, scrape(t, r, "sluice_streams_open"))
	assert.Equal(t, []string{"sluice_journal_records_total 9"}, scrape(t, r, "sluice_journal_records_total"))
	assert.Equal(t, []string{"sluice_own 1"}, scrape(t, r, "sluice_own"))
	assert.NotEmpty(t, scrape(t, r, "go_goroutines"))
	assert.NotEmpty(t, scrape(t, r, "process_open_fds"))
}

// TestCountingDoesNotAllocate guards the request path.
func TestCountingDoesNotAllocate(t *testing.T) {
	r := telemetry.NewRegistry()
	c := r.Counter("sluice_requests_total", "Requests.", telemetry.Label{Name: "provider", Values: []string{"openai"}})
	series := c.With("openai")
	assert.Zero(t, testing.AllocsPerRun(100, func() { series.Inc() }))
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { c.Add(1, "openai") }), 1.0)
}

func BenchmarkCounter(b *testing.B) {
	c := telemetry.NewRegistry().Counter("sluice_requests_total", "Requests.",
		telemetry.Label{Name: "provider", Values: []string{"openai"}}, telemetry.Label{Name: "code", Values: []string{"200"}})
	b.ReportAllocs()
	for b.Loop() {
		c.Add(1, "openai", "200")
	}
}
