package duckdb

import (
	"fmt"

	"sluice/internal/domain/record"
)

// metric is a field of record.Metrics.
type metric struct {
	set          record.MetricSet // 0 for a metric that is always present
	name         string           // of its column
	sql          string           // over the attempts of a row
	into         func(*record.Metrics) any
	seriesColumn string // column of the series that sql needs; empty for none
	merge        string // how partial values are combined: "sum", "min" or "max"
}

// merged returns the SQL that combines partial values of the metric.
func (f *metric) merged() string {
	if f.merge == "sum" {
		return totalSQL(f.name, "")
	}
	return f.merge + "(" + f.name + ")"
}

// endedWell is the condition for is_success of a log.
const endedWell = "status BETWEEN 200 AND 299"

// metrics are the fields of record.Metrics that come together from those of parts.
var metrics = []metric{
	{0, "requests", "count(*)", func(f *record.Metrics) any { return &f.Requests }, "", "sum"},
	{record.MetricErrors, "errors", "count(*) FILTER (NOT " + endedWell + ")", func(f *record.Metrics) any { return &f.Errors }, "", "sum"},
	{record.MetricCost, "cost", totalSQL("cost_nano", ""), func(f *record.Metrics) any { return &f.Cost }, "", "sum"},
	{record.MetricTokens, "tokens", totalSQL(tokens, ""), func(f *record.Metrics) any { return &f.Tokens }, "", "sum"},
	{record.MetricTokens, "input", totalSQL("input_tokens", ""), func(f *record.Metrics) any { return &f.Input }, "", "sum"},
	{record.MetricTokens, "output", totalSQL("output_tokens", ""), func(f *record.Metrics) any { return &f.Output }, "", "sum"},
	{record.MetricLatency, "latency", totalSQL("duration_ns", ""), func(f *record.Metrics) any { return (*int64)(&f.Latency) }, "", "sum"},
	{record.MetricUsers, "user_requests", "count(*) FILTER (end_user <> '')", func(f *record.Metrics) any { return &f.UserRequests }, "", "sum"},
	{record.MetricRescued, "by_retry", "count(*) FILTER (" + endedWell + " AND retries > 0)", func(f *record.Metrics) any { return &f.ByRetry }, "", "sum"},
	{record.MetricRescued, "by_fallback", "count(*) FILTER (" + endedWell + " AND number > 0)", func(f *record.Metrics) any { return &f.ByFallback }, "", "sum"},
	{record.MetricCache, "simple_hits", "count(*) FILTER (" + simpleHit + ")", func(f *record.Metrics) any { return &f.SimpleHits }, "cache_status", "sum"},
	{record.MetricCache, "semantic_hits", "count(*) FILTER (" + semanticHit + ")", func(f *record.Metrics) any { return &f.SemanticHits }, "cache_status", "sum"},
	{record.MetricCache, "simple_saved", totalSQL("saved_nano", simpleHit), func(f *record.Metrics) any { return &f.SimpleSaved }, "cache_status", "sum"},
	{record.MetricCache, "semantic_saved", totalSQL("saved_nano", semanticHit), func(f *record.Metrics) any { return &f.SemanticSaved }, "cache_status", "sum"},
	{record.MetricCache, "hit_latency", totalSQL("duration_ns", simpleHit+" OR "+semanticHit), func(f *record.Metrics) any { return (*int64)(&f.HitLatency) }, "cache_status", "sum"},
	{record.MetricSeen, "first", "min(started)", func(f *record.Metrics) any { return &f.First }, "", "min"},
	{record.MetricSeen, "last", "max(started)", func(f *record.Metrics) any { return &f.Last }, "", "max"},
}

const (
	simpleHit   = "cache_status = 'HIT'"
	semanticHit = "cache_status = 'SEMANTIC HIT'"
)

// totalSQL returns the sum of a number over attempts, with an optional condition. A sum that
// overflows the result type is the maximum of that type.
func totalSQL(number, condition string) string {
	if condition != "" {
		condition = " FILTER (" + condition + ")"
	}
	return fmt.Sprintf("greatest(least(coalesce(sum(%s)%s, 0), 9223372036854775807), -9223372036854775807)::BIGINT", number, condition)
}

// rescuedBy is the number of retries of a row that succeeded after some.
const rescuedBy = "CASE WHEN " + endedWell + " AND retries > 0 THEN retries::VARCHAR ELSE '' END"

// dimension defines how the value of a property is read; empty for attempts without it.
type dimension struct {
	sql          string
	seriesColumn string // column of the series that sql needs; empty for none
}

var dimensions = map[record.Dimension]dimension{
	record.ByProvider:   {"provider", "provider"},
	record.ByModel:      {"model", "model"},
	record.ByStatus:     {"status::VARCHAR", ""},
	record.ByKey:        {"key_id", "key_id"},
	record.ByConfig:     {"config_id", "config_id"},
	record.ByWorkspace:  {"workspace_id", "workspace_id"},
	record.ByProviderID: {"provider_id", "provider_id"},
	record.ByPrompt:     {"prompt_slug", ""},
	record.ByUser:       {"end_user", ""},
	record.ByMetadata:   {"CASE WHEN contains(metadata, ?) THEN coalesce(json_extract_string(metadata, ?), '') ELSE '' END", ""},
	record.ByTrace: {"CASE WHEN contains(extra, '\"trace_id\":') THEN coalesce(json_extract_string(extra, '/trace_id'), trace_id::VARCHAR) " +
		"WHEN trace_id = '00000000-0000-0000-0000-000000000000' THEN '' ELSE trace_id::VARCHAR END", ""},
	record.ByRetries: {rescuedBy, ""},
	record.ByScore:   {"score::VARCHAR", ""},

	record.ByUnpriced: {"CASE WHEN unpriced = '' THEN '' ELSE provider || ' ' || unpriced || ' ' || model END", ""},
}

// orders are the columns for sorting, computed from the names of metrics.
var orders = map[record.Column]string{
	record.ColumnRequests:    "requests",
	record.ColumnCost:        "cost",
	record.ColumnTokens:      "tokens",
	record.ColumnAvgTokens:   "tokens / requests",
	record.ColumnAvgInput:    "input / requests",
	record.ColumnAvgOutput:   "output / requests",
	record.ColumnAvgLatency:  "latency / requests",
	record.ColumnP95:         "p95",
	record.ColumnP99:         "p99",
	record.ColumnSuccessRate: "(requests - errors) / requests",
	record.ColumnErrors:      "errors",
	record.ColumnHitRate:     "(simple_hits + semantic_hits) / requests",
	record.ColumnLast:        "last",
	record.ColumnFirst:       "first",
}
