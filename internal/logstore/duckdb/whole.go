package duckdb

import (
	"fmt"
	"strings"

	"sluice/internal/record"
)

// wholes are the columns of figures that do not come together from parts.
var wholes = [...]struct {
	want    record.Figure
	columns []figure
}{
	{record.WantPercentiles, percentileColumns()},
	{record.WantUsers, []figure{{name: "coalesce(users, 0)::BIGINT", into: func(f *record.Figures) any { return &f.Users }}}},
	{record.WantFeedback, []figure{
		{name: "coalesce(judged, 0)::BIGINT", into: func(f *record.Figures) any { return &f.Judged }},
		{name: "coalesce(feedbacks, 0)::BIGINT", into: func(f *record.Figures) any { return &f.Feedbacks }},
		{name: "coalesce(weighted, 0)::DOUBLE", into: func(f *record.Figures) any { return &f.Weighted }},
	}},
}

func percentileColumns() (out []figure) {
	for _, p := range percents {
		out = append(out, figure{name: p.name, into: p.into})
	}
	return out
}

// quantiles work out percentiles: of kept bins where there are any, exactly otherwise.
func (q *question) quantiles() string {
	r := route{kind: bins, property: q.route.property}
	c := new(cover)
	if q.route.kind == sums {
		c = q.coverFor(bins, q.route.property)
	}
	if !c.kept() {
		whole := []span{spanOf(q.a.Query.From, q.a.Query.To)}
		var out []string
		for i, p := range percents {
			out = append(out, fmt.Sprintf("sorted[%d] AS %s", i+1, p.name))
		}
		return "SELECT bucket, label, " + strings.Join(out, ", ") + " FROM (SELECT bucket, label, quantile_disc(duration_ns, [0.5, 0.9, 0.95, 0.99]) AS sorted FROM (" +
			q.rows(whole) + ") GROUP BY bucket, label)"
	}
	var out []string
	for _, p := range percents {
		out = append(out, fmt.Sprintf("%s AS %s", middle(fmt.Sprintf("(min(bin) FILTER (upto * 100 >= whole * %d))", p.percent)), p.name))
	}
	return "SELECT bucket, label, " + strings.Join(out, ", ") +
		" FROM (SELECT bucket, label, bin, sum(n) OVER (PARTITION BY bucket, label ORDER BY bin) AS upto, sum(n) OVER (PARTITION BY bucket, label) AS whole" +
		" FROM (SELECT bucket, label, bin, sum(n)::BIGINT AS n FROM (" + q.gather(r, c, binOf+" AS bin, 1 AS n", "bin, n") + ") GROUP BY bucket, label, bin))" +
		" GROUP BY bucket, label"
}

// people counts distinct end users. Where a bucket is one slot as wide as itself, of one
// workspace, each value of it stands there once.
func (q *question) people() string {
	r := route{kind: pairs, key: record.UserKey}
	c := new(cover)
	if q.route.kind == sums && q.route.property == everyRow {
		c = q.coverFor(pairs, everyRow)
	}
	if !c.kept() {
		whole := []span{spanOf(q.a.Query.From, q.a.Query.To)}
		return "SELECT bucket, label, count(DISTINCT end_user) FILTER (end_user <> '') AS users FROM (" + q.rows(whole) + ") GROUP BY bucket, label"
	}
	var parts []string
	one := q.a.Query.WorkspaceID != "" || q.a.By == record.ByWorkspace // of which a bucket is
	for l, spans := range c.slots {
		if len(spans) > 0 && levels[l].width == q.a.Step && one {
			parts = append(parts, "SELECT bucket, label, count(*) FILTER (value <> '') AS users FROM ("+q.kept(r, level(l), spans)+") GROUP BY bucket, label")
			c.slots[l] = nil
		}
	}
	if rest := q.gather(r, c, "end_user AS value", "value"); rest != "" {
		parts = append(parts, "SELECT bucket, label, count(*) FILTER (value <> '') AS users FROM (SELECT DISTINCT bucket, label, value FROM ("+rest+")) GROUP BY bucket, label")
	}
	return strings.Join(parts, " UNION ALL ")
}

// judgedRows are the judged rows by trace, and what follows from them: how many rows of a bucket
// are judged, and what feedback says. A feedback counts in the first bucket of its trace.
func (q *question) judgedRows() []string {
	score := ""
	if q.a.By == record.ByScore {
		score = "value AS score, "
	}
	said := &where{}
	said.add("org_id = ?", textParam(q.a.Query.OrgID))
	trace := "workspace_id, trace_id" // what one is known by
	if q.a.Query.WorkspaceID != "" {
		said.add("workspace_id = ?", textParam(q.a.Query.WorkspaceID))
		trace = "trace_id"
	}
	q.args = append(q.args, said.args...)
	w := q.src.rows()
	w.add(spanOf(q.a.Query.From, q.a.Query.To).within("started"))
	q.args = append(append(q.args, q.src.series.args...), w.args...)
	from := "main.attempts"
	if c := q.heardCover(); c.kept() {
		from = "(" + heardRows(c, q.pending) + ")"
	}
	found := "SELECT " + strings.Join(q.judgedColumns(), ", ") + ", feedbacks, weighted" + q.src.fromTable(from) + " JOIN said USING (" + trace + ")" + w.sql()
	bucket, label := q.bucket(), dimensions[q.a.By].sql
	condition := " WHERE label <> ''"
	if q.a.By == record.ByNothing {
		label, condition = "''", ""
	}
	if q.a.By == record.ByMetadata {
		q.args = append(q.args, metadataHint(q.a.Key), metadataPath(q.a.Key))
	}
	return []string{
		"said AS (SELECT " + trace + ", " + score + "count(*) AS feedbacks, sum(value * weight) AS weighted FROM feedback" + said.sql() + " GROUP BY ALL)",
		"found AS MATERIALIZED (" + found + ")", // labels are read of few rows
		"heard AS MATERIALIZED (SELECT " + bucket + " AS bucket, " + label + " AS label, " + trace + ", feedbacks, weighted FROM found" + condition + ")",
		"judged AS (SELECT bucket, label, count(*) AS judged FROM heard GROUP BY bucket, label)",
		"voices AS (SELECT bucket, label, sum(feedbacks) AS feedbacks, sum(weighted) AS weighted FROM (" +
			"SELECT min(bucket) AS bucket, label, any_value(feedbacks) AS feedbacks, any_value(weighted) AS weighted FROM heard GROUP BY label, " + trace + ") GROUP BY bucket, label)",
	}
}

// heardCover covers the time with hours whose judged rows are known; with none where a query
// selects by what these do not have.
func (q *question) heardCover() *cover {
	of := q.a.Query
	of.Weighted = record.FloatRange{}
	var usable []slot
	of.Metadata = nil // which judged rows have
	if !beyond(&of) {
		usable = q.heardHours()
	}
	return coverOf(spanOf(of.From, of.To), usable)
}

func (q *question) heardHours() (hours []slot) {
	for s, has := range q.has {
		if has&heard != 0 {
			hours = append(hours, s)
		}
	}
	return hours
}

// judgedColumns are the columns of judged rows of which buckets and labels are made.
func (q *question) judgedColumns() []string {
	columns := []string{"started", "workspace_id", "trace_id"}
	switch q.a.By {
	case record.ByNothing, record.ByWorkspace:
	case record.ByMetadata:
		columns = append(columns, "metadata")
	case record.ByTrace:
		columns = append(columns, "extra")
	case record.ByRetries:
		columns = append(columns, "status", "retries")
	case record.ByStatus:
		columns = append(columns, "status")
	default:
		columns = append(columns, dimensions[q.a.By].sql)
	}
	if q.a.By == record.ByScore {
		columns[len(columns)-1] = "score"
	}
	return columns
}
