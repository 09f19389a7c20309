package clickhouse

import "sluice/internal/domain/record"

// metric is a field of record.Metrics.
type metric struct {
	set  record.MetricSet // 0 for a metric that is always present
	name string           // of its column
	sql  string           // over the attempts of a row
	into func(*record.Metrics) any
}

// endedWell is the condition for is_success of a log.
const endedWell = "status BETWEEN 200 AND 299"

const (
	simpleHit   = "cache_status = 'HIT'"
	semanticHit = "cache_status = 'SEMANTIC HIT'"
)

// metrics are the fields of record.Metrics, except the percentiles and the totals of feedback.
var metrics = []metric{
	{0, "f_requests", "count()", func(f *record.Metrics) any { return &f.Requests }},
	{record.MetricErrors, "f_errors", "countIf(NOT " + endedWell + ")", func(f *record.Metrics) any { return &f.Errors }},
	{record.MetricCost, "f_cost", totalSQL("ifNull(cost_nano, 0)", ""), func(f *record.Metrics) any { return &f.Cost }},
	{record.MetricTokens, "f_tokens", totalSQL(tokens, ""), func(f *record.Metrics) any { return &f.Tokens }},
	{record.MetricTokens, "f_input", totalSQL("input_tokens", ""), func(f *record.Metrics) any { return &f.Input }},
	{record.MetricTokens, "f_output", totalSQL("output_tokens", ""), func(f *record.Metrics) any { return &f.Output }},
	{record.MetricLatency, "f_latency", totalSQL("duration_ns", ""), func(f *record.Metrics) any { return (*int64)(&f.Latency) }},
	{record.MetricUsers, "f_users", "uniqExactIf(end_user, end_user != '')", func(f *record.Metrics) any { return &f.Users }},
	{record.MetricUsers, "f_user_requests", "countIf(end_user != '')", func(f *record.Metrics) any { return &f.UserRequests }},
	{record.MetricRescued, "f_by_retry", "countIf(" + endedWell + " AND retries > 0)", func(f *record.Metrics) any { return &f.ByRetry }},
	{record.MetricRescued, "f_by_fallback", "countIf(" + endedWell + " AND number > 0)", func(f *record.Metrics) any { return &f.ByFallback }},
	{record.MetricCache, "f_simple_hits", "countIf(" + simpleHit + ")", func(f *record.Metrics) any { return &f.SimpleHits }},
	{record.MetricCache, "f_semantic_hits", "countIf(" + semanticHit + ")", func(f *record.Metrics) any { return &f.SemanticHits }},
	{record.MetricCache, "f_simple_saved", totalSQL("saved_nano", simpleHit), func(f *record.Metrics) any { return &f.SimpleSaved }},
	{record.MetricCache, "f_semantic_saved", totalSQL("saved_nano", semanticHit), func(f *record.Metrics) any { return &f.SemanticSaved }},
	{record.MetricCache, "f_hit_latency", totalSQL("duration_ns", simpleHit+" OR "+semanticHit), func(f *record.Metrics) any { return (*int64)(&f.HitLatency) }},
	{record.MetricSeen, "f_first", "toUnixTimestamp64Micro(min(started))", func(f *record.Metrics) any { return (*micros)(&f.First) }},
	{record.MetricSeen, "f_last", "toUnixTimestamp64Micro(max(started))", func(f *record.Metrics) any { return (*micros)(&f.Last) }},
	{record.MetricFeedback, "f_judged", "countIf(feedbacks > 0)", func(f *record.Metrics) any { return &f.Judged }},
}

// totalSQL returns the sum of a number over attempts, with an optional condition. A sum that
// overflows the result type is the maximum of that type.
func totalSQL(number, condition string) string {
	add := "sum(toInt128(" + number + "))"
	if condition != "" {
		add = "sumIf(toInt128(" + number + "), " + condition + ")"
	}
	return "toInt64(greatest(least(" + add + ", toInt128(9223372036854775807)), toInt128(-9223372036854775807)))"
}

// percentileColumns are read from f_percentiles.
var percentileColumns = []metric{
	{record.MetricPercentiles, "f_percentiles[1]", "", func(f *record.Metrics) any { return (*int64)(&f.P50) }},
	{record.MetricPercentiles, "f_percentiles[2]", "", func(f *record.Metrics) any { return (*int64)(&f.P90) }},
	{record.MetricPercentiles, "f_percentiles[3]", "", func(f *record.Metrics) any { return (*int64)(&f.P95) }},
	{record.MetricPercentiles, "f_percentiles[4]", "", func(f *record.Metrics) any { return (*int64)(&f.P99) }},
}

// Computation of percentiles, all four from one state. The exact ones hold every duration in
// memory. The server takes the value at index level x rows, counted from 0 and rounded down; at a
// whole number we take the value before it. So levels are lower by less than one row in
// 1,000,000,000. The others are off by at most half a percent.
const (
	exactPercentiles = "quantilesExact(0.499999999999, 0.899999999999, 0.949999999999, 0.989999999999)(duration_ns)"
	nearPercentiles  = "arrayMap(x -> toInt64(round(x)), quantilesDD(0.005, 0.5, 0.9, 0.95, 0.99)(duration_ns))"
)

// feedbackColumns are the totals of feedback.
var feedbackColumns = []metric{
	{record.MetricFeedback, "toInt64(voices.feedbacks)", "", func(f *record.Metrics) any { return &f.Feedbacks }},
	{record.MetricFeedback, "toFloat64(voices.weighted)", "", func(f *record.Metrics) any { return &f.Weighted }},
}

// dimensions define how the value of a property is read; empty for attempts without it.
var dimensions = map[record.Dimension]string{
	record.ByNothing:    "''",
	record.ByProvider:   "toString(provider)",
	record.ByModel:      "toString(model)",
	record.ByStatus:     "toString(status)",
	record.ByKey:        "toString(key_id)",
	record.ByConfig:     "toString(config_id)",
	record.ByWorkspace:  "toString(workspace_id)",
	record.ByProviderID: "toString(provider_id)",
	record.ByPrompt:     "toString(prompt_slug)",
	record.ByUser:       "end_user",
	record.ByMetadata:   "metadata[%s]",
	record.ByTrace:      "trace_id",
	record.ByRetries:    "if(" + endedWell + " AND retries > 0, toString(retries), '')",
	record.ByScore:      "toString(score)",
	record.ByUnpriced:   "if(unpriced = '', '', concat(toString(provider), ' ', unpriced, ' ', toString(model)))",
}

// orders are the columns for sorting, computed from the names of metrics.
var orders = map[record.Column]string{
	record.ColumnRequests:    "f_requests",
	record.ColumnCost:        "f_cost",
	record.ColumnTokens:      "f_tokens",
	record.ColumnAvgTokens:   "f_tokens / f_requests",
	record.ColumnAvgInput:    "f_input / f_requests",
	record.ColumnAvgOutput:   "f_output / f_requests",
	record.ColumnAvgLatency:  "f_latency / f_requests",
	record.ColumnP95:         "f_percentiles[3]",
	record.ColumnP99:         "f_percentiles[4]",
	record.ColumnSuccessRate: "(f_requests - f_errors) / f_requests",
	record.ColumnErrors:      "f_errors",
	record.ColumnHitRate:     "(f_simple_hits + f_semantic_hits) / f_requests",
	record.ColumnLast:        "f_last",
	record.ColumnFirst:       "f_first",
}
