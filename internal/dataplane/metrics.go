package dataplane

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/record"
)

// Metrics are the figures of the request path. Labels come from closed sets:
// endpoints, provider ids, status classes, outcomes.
type Metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	attempts *prometheus.CounterVec
	retries  *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	lost     prometheus.Counter
}

// NewMetrics makes the figures; register its Collectors.
func NewMetrics() *Metrics {
	return &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_requests_total", Help: "Model requests answered, by endpoint and status class."}, []string{"endpoint", "status"}),
		seconds:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sluice_request_duration_seconds", Help: "Time from the request to the end of its answer.", Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}}, []string{"endpoint"}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_attempts_total", Help: "Attempts at targets, by provider and outcome."}, []string{"provider", "outcome"}),
		retries:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_retries_total", Help: "Further tries inside an attempt, by provider."}, []string{"provider"}),
		tokens:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_tokens_total", Help: "Tokens that providers reported, by provider and direction."}, []string{"provider", "direction"}),
		lost:     prometheus.NewCounter(prometheus.CounterOpts{Name: "sluice_records_lost_total", Help: "Attempts that the journal could not take. Anything above 0 needs a look at the disk."}),
	}
}

// Collectors are the figures, to be registered.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.requests, m.seconds, m.attempts, m.retries, m.tokens, m.lost}
}

func (m *Metrics) done(x *exchange, seconds float64) {
	ep := string(x.match.Endpoint)
	m.requests.WithLabelValues(ep, class(x.status)).Inc()
	m.seconds.WithLabelValues(ep).Observe(seconds)
}

func (m *Metrics) attempt(r *record.Attempt) {
	p := first(r.Provider, "none")
	m.attempts.WithLabelValues(p, string(r.Outcome)).Inc()
	if r.Usage.Reported {
		m.tokens.WithLabelValues(p, "input").Add(float64(r.Usage.InputTokens))
		m.tokens.WithLabelValues(p, "output").Add(float64(r.Usage.OutputTokens))
	}
}

func (m *Metrics) retry(a *attempt) { m.retries.WithLabelValues(a.spec.ID).Inc() }

func (m *Metrics) unrecorded(*record.Attempt) { m.lost.Inc() }

// class is "2xx" for 200 to 299 and so on; "none" when there was no answer.
func class(status int) string {
	if status < 100 || status > 599 {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}
