package logs

import (
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
)

// graphOf is the response of a graph.
// Source: contract/content-and-observability.yaml, Graph.
type graphOf[S, P any] struct {
	Summary S      `json:"summary" doc:"Totals over the complete time range"`
	Points  []P    `json:"data_points" nullable:"false"`
	Object  string `json:"object" enum:"analytics-graph"`
}

type requestsSummary struct {
	Total   int64 `json:"total"`
	Success int64 `json:"success" doc:"Requests with a status of 200 to 299"`
	Failed  int64 `json:"failed"`
}

type requestsPoint struct {
	Timestamp resource.Stamp `json:"timestamp" doc:"Start of the step"`
	Total     int64          `json:"total"`
	Success   int64          `json:"success"`
	Failed    int64          `json:"failed"`
}

type costSummary struct {
	Total   float64 `json:"total" doc:"Total in US cents"`
	Average float64 `json:"avg" doc:"US cents per request"`
}

type costPoint struct {
	Timestamp resource.Stamp `json:"timestamp"`
	Total     float64        `json:"total" doc:"Total in US cents"`
	Average   float64        `json:"avg" doc:"US cents per request"`
}

type latencySummary struct {
	Average float64 `json:"avg" doc:"Average in milliseconds"`
	P50     float64 `json:"p50" doc:"Median in milliseconds"`
	P90     float64 `json:"p90" doc:"90th percentile in milliseconds"`
	P99     float64 `json:"p99" doc:"99th percentile in milliseconds"`
}

type latencyPoint struct {
	Timestamp resource.Stamp `json:"timestamp"`
	Average   float64        `json:"avg" doc:"Average in milliseconds"`
	P50       float64        `json:"p50" doc:"Median in milliseconds"`
	P90       float64        `json:"p90" doc:"90th percentile in milliseconds"`
	P99       float64        `json:"p99" doc:"99th percentile in milliseconds"`
}

type tokensSummary struct {
	Total   int64   `json:"total"`
	Average float64 `json:"avg" doc:"Average per request"`
}

type tokensPoint struct {
	Timestamp resource.Stamp `json:"timestamp"`
	Total     int64          `json:"total"`
	Average   float64        `json:"avg" doc:"Average per request"`
}

// countSummary and countPoint are the summary and a point of graphs that count one thing.
type countSummary struct {
	Total int64 `json:"total"`
}

type countPoint struct {
	Timestamp resource.Stamp `json:"timestamp"`
	Total     int64          `json:"total"`
}

type averageSummary struct {
	Average float64 `json:"avg"`
}

type averagePoint struct {
	Timestamp resource.Stamp `json:"timestamp"`
	Average   float64        `json:"avg"`
}

type rateSummary struct {
	Rate float64 `json:"rate" doc:"Rate in percent"`
}

type ratePoint struct {
	Timestamp resource.Stamp `json:"timestamp"`
	Rate      float64        `json:"rate" doc:"Rate in percent"`
}

type userRequestsSummary struct {
	Total   int64   `json:"total" doc:"Number of requests"`
	Unique  int64   `json:"unique" doc:"Number of end users"`
	Average float64 `json:"avg" doc:"Requests per end user; requests without an end user do not count"`
}

type stackPoint struct {
	Timestamp resource.Stamp `json:"timestamp"`
	Stats     []statusCount  `json:"stats" nullable:"false"`
}

type statusCount struct {
	Status int   `json:"response_status_code"`
	Count  int64 `json:"count"`
}

type statusesSummary struct {
	Errors int64 `json:"total_errors"`
	Codes  int64 `json:"unique_error_codes"`
}

type statusPoint struct {
	Status int   `json:"status_code"`
	Count  int64 `json:"count"`
}

type rescuedSummary struct {
	Retry    int64 `json:"retry" doc:"Requests that succeeded after at least one retry"`
	Fallback int64 `json:"fallback" doc:"Requests that succeeded on a target other than the first"`
}

type rescuedPoint struct {
	Timestamp resource.Stamp `json:"timestamp"`
	Retry     []retryCount   `json:"retry" nullable:"false"`
	Fallback  int64          `json:"fallback"`
}

type retryCount struct {
	Retries int   `json:"retry_success_count"`
	Count   int64 `json:"count"`
}

type hitsSummary struct {
	Total int64   `json:"total" doc:"Simple and semantic cache hits"`
	Rate  float64 `json:"rate" doc:"Percent of all requests"`
}

type hitsPoint struct {
	Timestamp     resource.Stamp `json:"timestamp"`
	Simple        int64          `json:"simple_hits"`
	Semantic      int64          `json:"semantic_hits"`
	Rate          float64        `json:"rate" doc:"Percent of all requests"`
	SimpleSaved   float64        `json:"cumulative_simple_cache_savings" doc:"US cents saved by the hits up to this point"`
	SemanticSaved float64        `json:"cumulative_semantic_cache_savings" doc:"US cents saved by semantic hits up to this point"`
}

type scorePoint struct {
	Score int   `json:"score" minimum:"-10" maximum:"10"`
	Total int64 `json:"total"`
}

type modelPoint struct {
	Model    string  `json:"ai_model"`
	Total    int64   `json:"total" doc:"Number of feedback records"`
	Weighted float64 `json:"avg_weighted_feedback"`
}

// cacheTotals is the response of the cache summary.
type cacheTotals struct {
	Summary cacheMetrics `json:"summary"`
	Object  string       `json:"object" enum:"analytics-summary"`
}

type cacheMetrics struct {
	Hits     int64   `json:"hits"`
	Latency  float64 `json:"avg_latency" doc:"Milliseconds; cache hits only"`
	Requests int64   `json:"total_requests"`
	Speedup  float64 `json:"cache_speedup" doc:"Percent by which hits are faster than other requests; 0 without either"`
}

// ms returns a duration in milliseconds with a fraction.
func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// share returns sum divided by n, 0 if n is 0.
func share(sum float64, n int64) float64 {
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

func percent(part, total int64) float64 { return share(float64(part)*100, total) }

// weighted returns the average weighted feedback.
func weighted(f *record.Metrics) float64 { return share(f.Weighted, f.Feedbacks) }

// hitLatency returns the average duration of cache hits, in ms.
func hitLatency(f *record.Metrics) float64 { return share(ms(f.HitLatency), f.Hits()) }
