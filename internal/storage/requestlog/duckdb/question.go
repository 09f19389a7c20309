package duckdb

import (
	"cmp"
	"fmt"
	"strings"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog"
)

// question builds the statement of an analysis and collects its values in their order.
type question struct {
	a         *record.Analysis
	src       *source
	requested record.MetricSet
	route     route
	has       map[bucket]rollupKind // the stored rollups
	pending   bool                  // traces have feedback, but their rows are not in the feedback table yet
	metrics   []metric              // metrics that are merged from parts
	columns   []metric              // columns of the result
	args      []any
}

// newQuestion plans an analysis. has contains the rollup buckets that it may use, with the
// kinds that each one has.
func newQuestion(a *record.Analysis, has map[bucket]rollupKind) *question {
	if a.By == record.ByMetadata && a.Key == record.UserKey { // the user key has its own column
		b := *a
		b.By, a = record.ByUser, &b
	}
	q := &question{a: a, src: filter(a.Query), requested: a.Metrics, route: routeOf(a), has: has}
	if a.By == record.ByScore {
		q.requested &= record.MetricFeedback
	}
	if !q.coverFor(q.route.kind, q.route.property).hasBuckets() {
		q.route = route{}
	}
	if src := dimensions[a.By].seriesColumn; src != "" {
		q.src.need(src)
	}
	if a.By == record.ByUnpriced {
		q.src.need("provider")
		q.src.need("model")
	}
	for _, f := range metrics {
		if f.set&^q.requested != 0 {
			continue
		}
		if f.seriesColumn != "" {
			q.src.need(f.seriesColumn)
		}
		q.metrics = append(q.metrics, f)
		q.columns = append(q.columns, metric{name: f.name, into: f.into})
	}
	for _, w := range wholes {
		if q.requested&w.set != 0 {
			q.columns = append(q.columns, w.columns...)
		}
	}
	if q.judged() {
		q.src.need("workspace_id")
	}
	return q
}

// judged reports whether the analysis needs feedback on traces.
func (q *question) judged() bool {
	return q.a.Metrics&record.MetricFeedback != 0 || q.a.By == record.ByScore
}

// coverFor covers the time of the query with rollup buckets that have kind k. None of them
// crosses the end of a step of the analysis.
func (q *question) coverFor(k rollupKind, p property) *bucketCover {
	var usable []bucket
	if k == bins && p == everyRow { // each bucket with totals also has bins of all rows
		k = totals
	}
	for s, has := range q.has {
		if width := levels[s.rollupLevel].width; has&k != 0 && q.a.Step%width == 0 && (q.a.Step == 0 || q.a.Zone%width == 0) {
			usable = append(usable, s)
		}
	}
	return coverOf(spanOf(q.a.Query.From, q.a.Query.To), usable)
}

// sql returns the statement and sets args.
func (q *question) sql() string {
	ctes, from := q.counted()
	if q.requested&record.MetricPercentiles != 0 {
		ctes = append(ctes, "quantiles AS ("+q.quantiles()+")")
		from += " LEFT JOIN quantiles USING (bucket, label)"
	}
	if q.requested&record.MetricUsers != 0 {
		ctes = append(ctes, "people AS ("+q.distinctUsers()+")")
		from += " LEFT JOIN people USING (bucket, label)"
	}
	var b strings.Builder
	b.WriteString("WITH " + strings.Join(ctes, ", ") + " SELECT count(*) OVER (), bucket, label")
	for _, f := range q.columns {
		b.WriteString(", " + f.name)
	}
	size, _ := q.a.PageSize()
	b.WriteString(from + " ORDER BY " + requestlog.AnalysisOrder(q.a, orders) + " LIMIT ? OFFSET ?")
	q.args = append(q.args, size, q.a.Offset)
	return b.String()
}

// counted returns the common table expressions and the FROM clause of the metrics that are
// merged from parts, and of feedback.
func (q *question) counted() (ctes []string, from string) {
	from = " FROM counted"
	if !q.judged() {
		return []string{"counted AS (" + q.metricsSQL() + ")"}, from
	}
	ctes = append(ctes, q.feedbackRows()...)
	if q.a.By == record.ByScore { // the result rows come from feedback
		ctes = append(ctes, "counted AS (SELECT bucket, label, 0::BIGINT AS requests FROM voices)")
	} else {
		ctes = append(ctes, "counted AS ("+q.metricsSQL()+")")
	}
	if q.requested&record.MetricFeedback != 0 {
		from += " LEFT JOIN voices USING (bucket, label)"
	}
	return ctes, from
}

// metricsSQL returns the statement for the metrics over rows. It uses rollups where there are
// any.
func (q *question) metricsSQL() string {
	var parts, merged, names []string
	for _, f := range q.metrics {
		parts = append(parts, f.sql+" AS "+f.name)
		merged = append(merged, f.merged()+" AS "+f.name)
		names = append(names, f.name)
	}
	mergedSQL := strings.Join(merged, ", ")
	c := q.coverFor(q.route.kind, q.route.property)
	if !c.hasBuckets() && q.a.By != record.ByMetadata {
		return "SELECT bucket, label, " + strings.Join(parts, ", ") + " FROM (" + q.rows(c.rows) + ") GROUP BY bucket, label"
	}
	return "SELECT bucket, label, " + mergedSQL + " FROM (" + q.gather(q.route, c, strings.Join(parts, ", "), strings.Join(names, ", "), mergedSQL) + ") GROUP BY bucket, label"
}

// gather combines the metrics of rows and of rollups for each bucket and label. The result may
// contain several rows of one bucket and label; the caller merges them. If there are also rows,
// the rollups are merged with each other first. The database has an upper limit for the values
// of rollups, but not for sums over rows. It adds values that may exceed 64 bits far slower.
func (q *question) gather(r route, c *bucketCover, ofRows, rollupColumns, together string) string {
	var rows string
	if len(c.rows) > 0 && q.a.By == record.ByMetadata {
		rows = q.byMetadata(c.rows, ofRows)
	} else if len(c.rows) > 0 {
		rows = "SELECT bucket, label, " + ofRows + " FROM (" + q.rows(c.rows) + ") GROUP BY ALL"
	}
	var parts []string
	for l, spans := range c.slots {
		if len(spans) > 0 {
			parts = append(parts, "SELECT bucket, label, "+rollupColumns+" FROM ("+q.rollupSQL(r, rollupLevel(l), spans)+")")
		}
	}
	storedBins := strings.Join(parts, " UNION ALL BY NAME ")
	switch {
	case rows == "":
		return storedBins
	case storedBins == "":
		return rows
	}
	return rows + " UNION ALL BY NAME SELECT bucket, label, " + together + " FROM (" + storedBins + ") GROUP BY ALL"
}

// bucket returns the expression for the step of the analysis that contains a row or rollup.
func (q *question) bucket() string {
	if q.a.Step == 0 {
		return "0::BIGINT"
	}
	q.args = append(q.args, q.a.Zone.Microseconds()-record.BucketsFrom.UnixMicro(), q.a.Step.Microseconds())
	return "(epoch_us(started) + ?::BIGINT) // ?::BIGINT"
}

// label returns the expression for the value by which a row is grouped.
func (q *question) label() string {
	if q.a.By == record.ByNothing {
		return "''"
	}
	if q.a.By == record.ByMetadata {
		q.args = append(q.args, metadataHint(q.a.Key), metadataPath(q.a.Key))
	}
	return dimensions[q.a.By].sql
}

// hasLabel returns the condition that rows belong to a group.
func (q *question) hasLabel() string {
	if q.a.By == record.ByNothing {
		return ""
	}
	return " WHERE label <> ''"
}

// byMetadata groups rows by their metadata string before it extracts a value: the strings
// repeat, and to parse one takes longer than to find its group.
func (q *question) byMetadata(in []span, ofRows string) string {
	label, bucket := q.label(), q.bucket()
	w := q.src.rows()
	q.args = append(append(q.args, q.src.series.args...), w.args...)
	return "SELECT * EXCLUDE metadata, " + label + " AS label FROM (SELECT " + bucket + " AS bucket, metadata, " + ofRows + q.src.from(in...) + w.sql() +
		" GROUP BY ALL)" + q.hasLabel()
}

// rows returns the statement for the attempts of some spans with their bucket and label.
func (q *question) rows(in []span) string {
	bucket, label := q.bucket(), q.label()
	w := q.src.rows()
	if q.a.By != record.ByNothing {
		w.add("label <> ''")
	}
	q.args = append(append(q.args, q.src.series.args...), w.args...)
	return "SELECT *, " + bucket + " AS bucket, " + label + " AS label" + q.src.from(in...) + w.sql()
}

// rollupSQL returns the statement for rollups of a level with their bucket and label.
func (q *question) rollupSQL(r route, l rollupLevel, spans []span) string {
	from, label := q.rollupSource(r, l, spans)
	if by := q.a.By; label == "" && by != record.ByNothing {
		label = dimensions[by].sql
	}
	if by := q.a.By; by == record.ByRetries {
		label = byRetries
	}
	w := &where{}
	for _, src := range [...]*where{&q.src.series, &q.src.facets} {
		for _, c := range src.conditions {
			w.add(c)
		}
		w.args = append(w.args, src.args...)
	}
	if q.a.By != record.ByNothing {
		w.add("label <> ''")
	}
	bucket := q.bucket()
	q.args = append(q.args, q.rollupArgs(r)...)
	q.args = append(q.args, w.args...)
	return "SELECT *, " + bucket + " AS bucket, " + cmp.Or(label, "''") + " AS label FROM (" + from + ")" + w.sql()
}

// rollupSource returns the statement for the rollups of a route with the columns that the
// route covers. label is the label expression of the rollups if it differs from that of rows.
func (q *question) rollupSource(r route, l rollupLevel, spans []span) (from, label string) {
	in := ", start AS started FROM " + spanned(table(r.kind, l), "start", spans)
	from = "SELECT *" + in
	switch {
	case r.kind&(totals|bins) != 0:
		from = "SELECT *" + r.property.column() + in + fmt.Sprintf(" WHERE property = %d", r.property)
	case r.kind == pairs:
		from += " WHERE key = ?"
		if len(q.a.Query.Metadata) > 0 {
			from += " AND value = ?"
		}
		if by := q.a.By; by == record.ByUser || by == record.ByMetadata {
			label = "value"
		}
	}
	return from, label
}

// rollupArgs returns the values of rollupSource.
func (q *question) rollupArgs(r route) (args []any) {
	if r.kind == pairs {
		args = append(args, r.key)
		for _, value := range q.a.Query.Metadata {
			args = append(args, textParam(value))
		}
	}
	return args
}
