package duckdb

import (
	"fmt"
	"strings"

	"sluice/internal/domain/record"
)

// wholes are the columns of metrics that cannot be combined from partial values.
var wholes = [...]struct {
	set     record.MetricSet
	columns []metric
}{
	{record.MetricPercentiles, percentileColumns()},
	{record.MetricUsers, []metric{{name: "coalesce(users, 0)::BIGINT", into: func(f *record.Metrics) any { return &f.Users }}}},
	{record.MetricFeedback, []metric{
		{name: "coalesce(judged, 0)::BIGINT", into: func(f *record.Metrics) any { return &f.Judged }},
		{name: "coalesce(feedbacks, 0)::BIGINT", into: func(f *record.Metrics) any { return &f.Feedbacks }},
		{name: "coalesce(weighted, 0)::DOUBLE", into: func(f *record.Metrics) any { return &f.Weighted }},
	}},
}

func percentileColumns() (out []metric) {
	for _, p := range percents {
		out = append(out, metric{name: p.name, into: p.into})
	}
	return out
}

// quantiles computes percentiles: from stored bins if there are any, otherwise exactly.
func (q *question) quantiles() string {
	r := route{kind: bins, property: q.route.property}
	c := new(bucketCover)
	if q.route.kind == totals {
		c = q.coverFor(bins, q.route.property)
	}
	if !c.hasBuckets() {
		periods := []span{spanOf(q.a.Query.From, q.a.Query.To)}
		var out []string
		for i, p := range percents {
			out = append(out, fmt.Sprintf("sorted[%d] AS %s", i+1, p.name))
		}
		return "SELECT bucket, label, " + strings.Join(out, ", ") + " FROM (SELECT bucket, label, quantile_disc(duration_ns, [0.5, 0.9, 0.95, 0.99]) AS sorted FROM (" +
			q.rows(periods) + ") GROUP BY bucket, label)"
	}
	var out []string
	for _, p := range percents {
		out = append(out, fmt.Sprintf("%s AS %s", middle(fmt.Sprintf("(min(bin) FILTER (upto * 100 >= whole * %d))", p.percent)), p.name))
	}
	return "SELECT bucket, label, " + strings.Join(out, ", ") +
		" FROM (SELECT bucket, label, bin, sum(n) OVER (PARTITION BY bucket, label ORDER BY bin) AS upto, sum(n) OVER (PARTITION BY bucket, label) AS whole" +
		" FROM (SELECT bucket, label, bin, sum(n)::BIGINT AS n FROM (" + q.gather(r, c, binOf+" AS bin, count(*) AS n", "bin, n", "bin, sum(n)::BIGINT AS n") + ") GROUP BY bucket, label, bin))" +
		" GROUP BY bucket, label"
}

// distinctUsers counts distinct end users. If a bucket is a single slot of the same width, of one
// workspace, each value occurs once in it.
func (q *question) distinctUsers() string {
	r := route{kind: pairs, key: record.UserKey}
	c := new(bucketCover)
	if q.route.kind == totals && q.route.property == everyRow {
		c = q.coverFor(pairs, everyRow)
	}
	if !c.hasBuckets() {
		periods := []span{spanOf(q.a.Query.From, q.a.Query.To)}
		return "SELECT bucket, label, count(DISTINCT end_user) FILTER (end_user <> '') AS users FROM (" + q.rows(periods) + ") GROUP BY bucket, label"
	}
	var parts []string
	one := q.a.Query.WorkspaceID != "" || q.a.By == record.ByWorkspace // each bucket is of one workspace
	for l, spans := range c.slots {
		if len(spans) > 0 && levels[l].width == q.a.Step && one {
			parts = append(parts, "SELECT bucket, label, count(*) FILTER (value <> '') AS users FROM ("+q.rollupSQL(r, rollupLevel(l), spans)+") GROUP BY bucket, label")
			c.slots[l] = nil
		}
	}
	if rest := q.gather(r, c, "end_user AS value", "value", "value"); rest != "" {
		parts = append(parts, "SELECT bucket, label, count(*) FILTER (value <> '') AS users FROM (SELECT DISTINCT bucket, label, value FROM ("+rest+")) GROUP BY bucket, label")
	}
	return strings.Join(parts, " UNION ALL ")
}
