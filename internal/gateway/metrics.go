package gateway

import (
	"cmp"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/domain/record"
)

// Metrics are the metrics of the request path. Labels come from closed sets: endpoints, provider
// ids, status classes, outcomes.
type Metrics struct {
	requests       *series[prometheus.Counter]
	seconds        *series[prometheus.Observer]
	attempts       *series[prometheus.Counter]
	tokens         *series[prometheus.Counter]
	first          *series[prometheus.Observer]
	retries        *prometheus.CounterVec
	fallback       *prometheus.CounterVec
	refusals       *prometheus.CounterVec
	droppedRecords prometheus.Counter
	cost           *series[prometheus.Counter]
	unpriced       *series[prometheus.Counter]
	recalled       *prometheus.CounterVec
	skipped        *prometheus.CounterVec
	all            []prometheus.Collector
}

// NewMetrics creates the metrics. The caller registers their Collectors.
func NewMetrics() *Metrics {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_requests_total", Help: "Completed model requests, by endpoint and status class."}, []string{"endpoint", "status"})
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sluice_request_duration_seconds", Help: "Duration from the request to the end of its response.", Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}}, []string{"endpoint"})
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_attempts_total", Help: "Attempts at targets, by provider and outcome."}, []string{"provider", "outcome"})
	retries := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_retries_total", Help: "Retries within an attempt, by provider."}, []string{"provider"})
	tokens := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_tokens_total", Help: "Tokens that providers reported, by provider and direction."}, []string{"provider", "direction"})
	firstByte := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sluice_first_byte_seconds", Help: "Time from the start of an attempt to the first byte of the response, or to the first token of a stream.", Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}}, []string{"provider"})
	fallback := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_fallbacks_total", Help: "Attempts that are not the first of their request, by provider."}, []string{"provider"})
	refusals := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_refusals_total", Help: "Requests that ended with a gateway error, by error code: limits, budgets, permissions, invalid requests and unreachable providers."}, []string{"code"})
	dropped := prometheus.NewCounter(prometheus.CounterOpts{Name: "sluice_records_lost_total", Help: "Attempts that the journal rejected. If it is above 0, check the disk."})
	cost := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_cost_dollars_total", Help: "Cost of calls, by provider and state of the ledger entry."}, []string{"provider", "state"})
	unpriced := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_unpriced_calls_total", Help: "Calls without a cost, because the model or its usage has no price, by provider and reason."}, []string{"provider", "reason"})
	recalled := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_cache_answers_total", Help: "Attempts that queried the response cache, by result: HIT, MISS, …"}, []string{"status"})
	skipped := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_guardrail_async_skipped_total", Help: "Phases of calls that asynchronous guardrails did not judge, by reason: busy, too_long, timeout, stopped."}, []string{"reason"})
	return &Metrics{
		requests: newSeries(func(endpoint, status string) prometheus.Counter { return requests.WithLabelValues(endpoint, status) }),
		seconds:  newSeries(func(endpoint, _ string) prometheus.Observer { return seconds.WithLabelValues(endpoint) }),
		attempts: newSeries(func(provider, outcome string) prometheus.Counter { return attempts.WithLabelValues(provider, outcome) }),
		tokens: newSeries(func(provider, direction string) prometheus.Counter {
			return tokens.WithLabelValues(provider, direction)
		}),
		cost:     newSeries(func(provider, state string) prometheus.Counter { return cost.WithLabelValues(provider, state) }),
		unpriced: newSeries(func(provider, reason string) prometheus.Counter { return unpriced.WithLabelValues(provider, reason) }),
		first:    newSeries(func(provider, _ string) prometheus.Observer { return firstByte.WithLabelValues(provider) }),
		retries:  retries, fallback: fallback, refusals: refusals, droppedRecords: dropped, recalled: recalled, skipped: skipped,
		all: []prometheus.Collector{requests, seconds, attempts, firstByte, retries, fallback, refusals, tokens, dropped, cost, unpriced, recalled, skipped},
	}
}

// Collectors returns the metrics, for registration.
func (m *Metrics) Collectors() []prometheus.Collector {
	return m.all
}

func (m *Metrics) done(x *exchange, seconds float64) {
	ep := string(x.match.Endpoint)
	m.requests.withLabels(ep, class(x.status)).Inc()
	m.seconds.withLabels(ep, "").Observe(seconds)
	if x.refusal != nil {
		m.refusals.WithLabelValues(string(x.refusal.Code)).Inc()
	}
}

func (m *Metrics) attempt(r *record.Attempt, fallback bool) {
	p := cmp.Or(r.Provider, "none")
	m.attempts.withLabels(p, string(r.Outcome)).Inc()
	if r.FirstByte > 0 {
		m.first.withLabels(p, "").Observe(r.FirstByte.Seconds())
	}
	if s := r.CacheStatus; s != "" && s != "DISABLED" {
		m.recalled.WithLabelValues(s).Inc()
	}
	if fallback {
		m.fallback.WithLabelValues(p).Inc()
	}
	if r.Usage.Reported {
		m.tokens.withLabels(p, "input").Add(float64(r.Usage.InputTokens))
		m.tokens.withLabels(p, "output").Add(float64(r.Usage.OutputTokens))
	}
}

// spent counts the cost of a closed ledger entry.
func (m *Metrics) spent(provider string, s *record.Spend) {
	if s.Unpriced != "" {
		reason, _, _ := strings.Cut(s.Unpriced, ":")
		m.unpriced.withLabels(provider, reason).Inc()
	}
	if s.Cost > 0 {
		m.cost.withLabels(provider, s.State).Add(float64(s.Cost) / 1e9)
	}
}

func (m *Metrics) retry(a *attempt) { m.retries.WithLabelValues(a.spec.ID).Inc() }

// skippedReasons are the labels of the reasons why asynchronous hooks do not run.
var skippedReasons = map[error]string{errAsyncBusy: "busy", errAsyncTooLong: "too_long", errAsyncTimeout: "timeout", errAsyncStopped: "stopped"}

// skippedHooks counts a phase of a call whose asynchronous hooks did not run.
func (m *Metrics) skippedHooks(reason error) { m.skipped.WithLabelValues(skippedReasons[reason]).Inc() }

func (m *Metrics) unrecorded(*record.Attempt) { m.droppedRecords.Inc() }

// series caches the metrics of a vector by their one or two labels, because the vector itself
// hashes the labels on each lookup. The labels come from closed sets, so a new entry may copy the
// map, and a lookup takes no lock.
type series[F any] struct {
	find  func(first, second string) F
	known atomic.Pointer[map[[2]string]F]
	mu    sync.Mutex // held while known is replaced
}

func newSeries[F any](find func(first, second string) F) *series[F] {
	s := &series[F]{find: find}
	s.known.Store(&map[[2]string]F{})
	return s
}

func (s *series[F]) withLabels(first, second string) F {
	key := [2]string{first, second}
	if f, ok := (*s.known.Load())[key]; ok {
		return f
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := maps.Clone(*s.known.Load())
	next[key] = s.find(first, second)
	s.known.Store(&next)
	return next[key]
}

// class returns "2xx" for 200 to 299 and so on, or "none" without a response.
func class(status int) string {
	if status < 100 || status > 599 {
		return "none"
	}
	return [...]string{"1xx", "2xx", "3xx", "4xx", "5xx"}[status/100-1]
}
