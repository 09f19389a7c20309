package logs

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
)

// graph is a route whose response is computed from a series.
type graph struct {
	path, id, title string
	metrics         record.MetricSet // metrics of each bucket and of the total; 0 for none
	by              record.Dimension // dimension whose values get their own metrics; ByNothing for none
	still           bool             // the graph has no time axis
	response        any              // zero value of the type that show returns
	show            func(s *series) any
}

// series is the data of a graph.
type series struct {
	total   record.Metrics       // metrics of the whole period; zero if the graph requests none
	buckets []bucket             // in order, including empty ones; nil for a graph without a time axis
	values  []record.AnalysisRow // rows of a graph without a time axis
}

// bucket is one step on the time axis. values has its rows by graph.by.
type bucket struct {
	record.AnalysisRow
	values []record.AnalysisRow
}

// graphs lists all graphs. The response of a graph with a time axis has a point for each
// bucket.
// Source: contract/content-and-observability.yaml, analytics; .md 5.2.
var graphs = []graph{
	overTime("requests", "getRequestsGraph", "Get requests over time", record.MetricErrors,
		func(f *record.Metrics) requestsSummary {
			return requestsSummary{f.Requests, f.Requests - f.Errors, f.Errors}
		},
		func(start resource.Stamp, f *record.Metrics) requestsPoint {
			return requestsPoint{start, f.Requests, f.Requests - f.Errors, f.Errors}
		}),
	overTime("cost", "getCostGraph", "Get cost over time", record.MetricCost,
		func(f *record.Metrics) costSummary { return costSummary{cents(f.Cost), f.Per(cents(f.Cost))} },
		func(start resource.Stamp, f *record.Metrics) costPoint {
			return costPoint{start, cents(f.Cost), f.Per(cents(f.Cost))}
		}),
	overTime("latency", "getLatencyGraph", "Get latency over time", record.MetricLatency|record.MetricPercentiles,
		func(f *record.Metrics) latencySummary {
			return latencySummary{f.Per(ms(f.Latency)), ms(f.P50), ms(f.P90), ms(f.P99)}
		},
		func(start resource.Stamp, f *record.Metrics) latencyPoint {
			return latencyPoint{start, f.Per(ms(f.Latency)), ms(f.P50), ms(f.P90), ms(f.P99)}
		}),
	overTime("tokens", "getTokensGraph", "Get tokens over time", record.MetricTokens,
		func(f *record.Metrics) tokensSummary { return tokensSummary{f.Tokens, f.Per(float64(f.Tokens))} },
		func(start resource.Stamp, f *record.Metrics) tokensPoint {
			return tokensPoint{start, f.Tokens, f.Per(float64(f.Tokens))}
		}),
	overTime("users", "getUsersGraph", "Get end users over time", record.MetricUsers,
		func(f *record.Metrics) countSummary { return countSummary{f.Users} },
		func(start resource.Stamp, f *record.Metrics) countPoint { return countPoint{start, f.Users} }),
	overTime("users/requests", "getUserRequestsGraph", "Get requests per end user over time", record.MetricUsers,
		func(f *record.Metrics) userRequestsSummary {
			return userRequestsSummary{f.Requests, f.Users, share(float64(f.UserRequests), f.Users)}
		},
		func(start resource.Stamp, f *record.Metrics) averagePoint {
			return averagePoint{start, share(float64(f.UserRequests), f.Users)}
		}),
	overTime("errors", "getErrorsGraph", "Get errors over time", record.MetricErrors,
		func(f *record.Metrics) countSummary { return countSummary{f.Errors} },
		func(start resource.Stamp, f *record.Metrics) countPoint { return countPoint{start, f.Errors} }),
	overTime("errors/rate", "getErrorRateGraph", "Get the error rate over time", record.MetricErrors,
		func(f *record.Metrics) rateSummary { return rateSummary{percent(f.Errors, f.Requests)} },
		func(start resource.Stamp, f *record.Metrics) ratePoint {
			return ratePoint{start, percent(f.Errors, f.Requests)}
		}),
	drawn(graph{path: "errors/stacks", id: "getErrorStacksGraph", title: "Get errors by status over time", by: record.ByStatus}, errorStacks),
	drawn(graph{path: "errors/status-codes", id: "getErrorStatusesGraph", title: "Get errors by status", by: record.ByStatus, still: true}, errorStatuses),
	drawn(graph{
		path: "requests/rescued", id: "getRescuedGraph", title: "Get requests saved by retries and fallbacks",
		metrics: record.MetricRescued, by: record.ByRetries,
	}, rescued),
	drawn(graph{path: "cache/hit-rate", id: "getCacheHitsGraph", title: "Get cache hits over time", metrics: record.MetricCache}, cacheHits),
	overTime("cache/latency", "getCacheLatencyGraph", "Get the latency of cache hits over time", record.MetricCache,
		func(*record.Metrics) resource.Empty { return resource.Empty{} },
		func(start resource.Stamp, f *record.Metrics) averagePoint { return averagePoint{start, hitLatency(f)} }),
	overTime("feedbacks", "getFeedbacksGraph", "Get feedback over time", record.MetricFeedback,
		func(f *record.Metrics) countSummary { return countSummary{f.Feedbacks} },
		func(start resource.Stamp, f *record.Metrics) countPoint { return countPoint{start, f.Feedbacks} }),
	drawn(graph{path: "feedbacks/scores", id: "getFeedbackScoresGraph", title: "Get feedback by value", metrics: record.MetricFeedback, by: record.ByScore, still: true}, scores),
	overTime("feedbacks/weighted", "getWeightedFeedbackGraph", "Get average weighted feedback over time", record.MetricFeedback,
		func(f *record.Metrics) averageSummary { return averageSummary{weighted(f)} },
		func(start resource.Stamp, f *record.Metrics) averagePoint { return averagePoint{start, weighted(f)} }),
	drawn(graph{path: "feedbacks/ai-models", id: "getModelFeedbackGraph", title: "Get feedback by model", metrics: record.MetricFeedback, by: record.ByModel, still: true}, judgedModels),
	{
		path: "/analytics/summary/cache", id: "getCacheSummary", title: "Get cache totals", metrics: record.MetricCache | record.MetricLatency, still: true,
		response: cacheTotals{}, show: cacheSummary,
	},
}

const graphsPath = "/analytics/graphs/"

// dashed returns the path that some clients use for a graph of several words: "users-requests"
// instead of "users/requests". ok is false for a graph of one word.
func (g *graph) dashed() (path string, ok bool) {
	name, found := strings.CutPrefix(g.path, graphsPath)
	return graphsPath + strings.ReplaceAll(name, "/", "-"), found && strings.Contains(name, "/")
}

// drawn completes a graph with the function that computes its summary and points from a series.
func drawn[S, P any](g graph, show func(s *series) (S, []P)) graph {
	g.path, g.response = graphsPath+g.path, graphOf[S, P]{}
	g.show = func(s *series) any {
		summary, points := show(s)
		return graphOf[S, P]{Summary: summary, Points: points, Object: "analytics-graph"}
	}
	return g
}

// overTime returns a graph with a time axis. total computes its summary from the metrics of the
// whole period, and point computes each point from the metrics of a bucket.
func overTime[S, P any](path, id, title string, metrics record.MetricSet, total func(*record.Metrics) S, point func(start resource.Stamp, f *record.Metrics) P) graph {
	return drawn(graph{path: path, id: id, title: title, metrics: metrics}, func(s *series) (S, []P) {
		points := make([]P, len(s.buckets))
		for i := range s.buckets {
			points[i] = point(resource.Stamp(s.buckets[i].Start), &s.buckets[i].Metrics)
		}
		return total(&s.total), points
	})
}

// draw loads the series of a graph and returns its response.
func (k analytics) draw(ctx context.Context, c *resource.Call, g *graph) (any, error) {
	a, err := k.analysis(ctx, c, record.ByNothing)
	if err != nil {
		return nil, err
	}
	s := &series{}
	if g.still {
		a.Metrics, a.By = g.metrics, g.by
		page, err := k.Analytics.Analyse(ctx, a)
		s.values = page.Rows
		return g.show(s), err
	}
	a.Step, a.Zone = stepOf(a.Query.To.Sub(a.Query.From)), zoneOf(c.Query("time_of_generation_min"))
	s.buckets = bucketsOf(&a)
	if g.metrics != 0 {
		if err := k.fill(ctx, a, g.metrics, s); err != nil {
			return nil, err
		}
	}
	if g.by != record.ByNothing {
		a.By = g.by
		page, err := k.Analytics.Analyse(ctx, a)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Rows {
			b := s.bucketAt(&a, r.Start)
			b.values = append(b.values, r)
		}
	}
	return g.show(s), nil
}

// fill loads the metrics of the buckets and the total into a series. It adds the total up from
// the buckets, or loads it with a second query if some metrics are not additive.
func (k analytics) fill(ctx context.Context, a record.Analysis, metrics record.MetricSet, s *series) error {
	a.Metrics = metrics
	page, err := k.Analytics.Analyse(ctx, a)
	if err != nil {
		return err
	}
	for _, r := range page.Rows {
		s.bucketAt(&a, r.Start).AnalysisRow = r
		s.total.Add(&r.Metrics)
	}
	if metrics&record.NonAdditiveMetrics == 0 {
		return nil
	}
	a.Step = 0
	if page, err = k.Analytics.Analyse(ctx, a); err == nil {
		s.total = page.Rows[0].Metrics
	}
	return err
}

// bucketAt returns the bucket that begins at start.
func (s *series) bucketAt(a *record.Analysis, start time.Time) *bucket {
	return &s.buckets[int(start.Sub(s.buckets[0].Start)/a.Step)]
}

// bucketsOf returns empty buckets for the whole period of an analysis.
func bucketsOf(a *record.Analysis) (out []bucket) {
	for start := a.Bucket(a.Query.From); start.Before(a.Query.To); start = start.Add(a.Step) {
		out = append(out, bucket{AnalysisRow: record.AnalysisRow{Start: start}})
	}
	return out
}

// stepOf returns the width of the buckets for a period.
// Source: contract/content-and-observability.md 5.1.
func stepOf(span time.Duration) time.Duration {
	const day = 24 * time.Hour
	switch {
	case span <= time.Hour:
		return time.Minute
	case span <= day:
		return time.Hour
	case span <= 90*day:
		return day
	}
	return 7 * day
}

// zoneOf returns the UTC offset of an RFC 3339 time, positive east of UTC. The format was checked
// before; zoneOf returns 0 for other strings.
func zoneOf(text string) time.Duration {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0
	}
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

func errorStacks(s *series) (summary countSummary, points []stackPoint) {
	points = make([]stackPoint, len(s.buckets))
	for i := range s.buckets {
		points[i] = stackPoint{resource.Stamp(s.buckets[i].Start), []statusCount{}}
		for _, v := range s.buckets[i].values {
			if status, failed := failure(v.Value); failed {
				points[i].Stats = append(points[i].Stats, statusCount{status, v.Requests})
				summary.Total += v.Requests
			}
		}
	}
	return summary, points
}

func errorStatuses(s *series) (summary statusesSummary, points []statusPoint) {
	points = []statusPoint{}
	for _, v := range s.values {
		if status, failed := failure(v.Value); failed {
			points = append(points, statusPoint{status, v.Requests})
			summary.Errors += v.Requests
			summary.Codes++
		}
	}
	return summary, points
}

// failure parses a status and reports whether it is an error: not between 200 and 299.
func failure(value string) (status int, failed bool) {
	status, err := strconv.Atoi(value)
	return status, err == nil && (status < 200 || status > 299)
}

func rescued(s *series) (rescuedSummary, []rescuedPoint) {
	points := make([]rescuedPoint, len(s.buckets))
	for i := range s.buckets {
		b := &s.buckets[i]
		points[i] = rescuedPoint{resource.Stamp(b.Start), []retryCount{}, b.ByFallback}
		for _, v := range b.values {
			if retries, err := strconv.Atoi(v.Value); err == nil {
				points[i].Retry = append(points[i].Retry, retryCount{retries, v.Requests})
			}
		}
		slices.SortFunc(points[i].Retry, func(a, b retryCount) int { return cmp.Compare(a.Retries, b.Retries) })
	}
	return rescuedSummary{s.total.ByRetry, s.total.ByFallback}, points
}

func cacheHits(s *series) (hitsSummary, []hitsPoint) {
	points := make([]hitsPoint, len(s.buckets))
	var simple, semantic int64
	for i := range s.buckets {
		f := &s.buckets[i].Metrics
		simple += f.SimpleSaved
		semantic += f.SemanticSaved
		points[i] = hitsPoint{resource.Stamp(s.buckets[i].Start), f.SimpleHits, f.SemanticHits, percent(f.Hits(), f.Requests), cents(simple), cents(semantic)}
	}
	return hitsSummary{s.total.Hits(), percent(s.total.Hits(), s.total.Requests)}, points
}

func scores(s *series) (summary countSummary, points []scorePoint) {
	points = []scorePoint{}
	for _, v := range s.values {
		if score, err := strconv.Atoi(v.Value); err == nil {
			points = append(points, scorePoint{score, v.Feedbacks})
			summary.Total += v.Feedbacks
		}
	}
	slices.SortFunc(points, func(a, b scorePoint) int { return cmp.Compare(a.Score, b.Score) })
	return summary, points
}

// judgedModels returns a point for each model that has feedback.
func judgedModels(s *series) (resource.Empty, []modelPoint) {
	points := []modelPoint{}
	for _, v := range s.values {
		if v.Feedbacks > 0 {
			points = append(points, modelPoint{v.Value, v.Feedbacks, weighted(&v.Metrics)})
		}
	}
	return resource.Empty{}, points
}

// cacheSummary compares responses from the cache with all other responses.
func cacheSummary(s *series) any {
	var f record.Metrics
	for _, v := range s.values {
		f = v.Metrics
	}
	t := cacheTotals{Object: "analytics-summary"}
	t.Summary.Hits, t.Summary.Latency, t.Summary.Requests = f.Hits(), hitLatency(&f), f.Requests
	if others := share(ms(f.Latency-f.HitLatency), f.Requests-f.Hits()); others > 0 && f.Hits() > 0 {
		t.Summary.Speedup = (others - t.Summary.Latency) / others * 100
	}
	return t
}
