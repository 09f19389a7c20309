package clickhouse

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog"
)

// Analyse implements requestlog.RowStore.
func (d *queries) Analyse(ctx context.Context, a record.Analysis) (record.AnalysisPage, error) {
	return requestlog.Analyse(ctx, a, d.analyse)
}

// analyse runs the statement of an analysis.
func (d *queries) analyse(ctx context.Context, a *record.Analysis) (page record.AnalysisPage, err error) {
	near, err := d.tooMany(ctx, a)
	if err != nil {
		return page, err
	}
	q := newQuestion(a, near)
	err = d.ask(ctx, q.sql(), &q.Params, func(scan func(...any) error) error {
		var row record.AnalysisRow
		var bucket int64
		dest := []any{&page.Total, &bucket, &row.Value}
		for _, f := range q.metrics {
			dest = append(dest, f.into(&row.Metrics))
		}
		if err := scan(dest...); err != nil {
			return err
		}
		if a.Step > 0 {
			row.Start = a.BucketStart(bucket)
		}
		page.Rows = append(page.Rows, row)
		return nil
	})
	if err != nil {
		return record.AnalysisPage{}, fmt.Errorf("analyse log rows: %w", err)
	}
	a.Complete(&page)
	return page, nil
}

// tooMany reports whether percentiles are requested over more rows than fit in memory for exact
// ones.
func (d *queries) tooMany(ctx context.Context, a *record.Analysis) (bool, error) {
	if a.Metrics&record.MetricPercentiles == 0 || a.By == record.ByScore {
		return false, nil
	}
	var rows int64
	s := filter(a.Query)
	err := d.ask(ctx, "SELECT count() FROM attempts"+s.where(), &s.Params, func(scan func(...any) error) error { return scan(&rows) })
	if err != nil {
		return false, fmt.Errorf("count log rows: %w", err)
	}
	return rows > d.o.ExactRows, nil
}

// question is the statement of an analysis.
type question struct {
	*selection
	a       *record.Analysis
	metrics []metric // columns of the result
	inner   []string // expressions over attempts
	bucket  string
	label   string
}

func newQuestion(a *record.Analysis, near bool) *question {
	q := &question{selection: filter(a.Query), a: a, bucket: "toInt64(0)", label: dimensions[a.By]}
	if a.By == record.ByMetadata {
		q.label = fmt.Sprintf(q.label, q.Text(a.Key))
	}
	if a.Step > 0 {
		q.bucket = "intDiv(toUnixTimestamp64Micro(started) + " + q.Int(a.Zone.Microseconds()-record.BucketsFrom.UnixMicro()) + ", " + q.Int(a.Step.Microseconds()) + ")"
	}
	requested := a.Metrics
	if a.By == record.ByScore {
		requested &= record.MetricFeedback
	}
	for _, f := range metrics {
		if f.set&^requested != 0 {
			continue
		}
		if a.By == record.ByScore && f.set == 0 {
			f.sql = "0"
		}
		q.inner = append(q.inner, f.sql+" AS "+f.name)
		q.metrics = append(q.metrics, f)
	}
	if requested&record.MetricPercentiles != 0 {
		how := exactPercentiles
		if near {
			how = nearPercentiles
		}
		q.inner = append(q.inner, how+" AS f_percentiles")
		q.metrics = append(q.metrics, percentileColumns...)
	}
	if requested&record.MetricFeedback != 0 {
		q.metrics = append(q.metrics, feedbackColumns...)
	}
	return q
}

// judged reports whether attempts are joined with the feedback on their traces.
func (q *question) judged() bool {
	return q.a.Metrics&record.MetricFeedback != 0 || q.a.By == record.ByScore
}

func (q *question) sql() string {
	var b strings.Builder
	b.WriteString("WITH ")
	outer := ""
	if q.judged() {
		score := ""
		if q.a.By == record.ByScore {
			score = ", value AS score"
		}
		b.WriteString("judged AS (SELECT workspace_id, trace_id" + score + ", count() AS feedbacks, sum(value * weight) AS weighted FROM feedback FINAL WHERE org_id = " +
			q.Text(q.a.Query.OrgID) + " AND NOT gone GROUP BY workspace_id, trace_id" + strings.TrimSuffix(score, " AS score") + "), ")
		outer = " LEFT JOIN judged USING (workspace_id, trace_id)"
		if q.a.By == record.ByScore {
			outer = " INNER JOIN judged USING (workspace_id, trace_id)"
		}
	}
	b.WriteString("counted AS (SELECT bucket, label, " + strings.Join(q.inner, ", ") + " FROM (" + q.attempts(outer) + ") GROUP BY bucket, label)")
	from := " FROM counted"
	if q.a.Metrics&record.MetricFeedback != 0 {
		b.WriteString(", voices AS (SELECT bucket, label, sum(feedbacks) AS feedbacks, sum(weighted) AS weighted FROM (" +
			"SELECT min(bucket) AS bucket, label, any(feedbacks) AS feedbacks, any(weighted) AS weighted FROM (" +
			q.attempts(" INNER JOIN judged USING (workspace_id, trace_id)") + ") GROUP BY label, workspace_id, trace_id) GROUP BY bucket, label)")
		from += " LEFT JOIN voices USING (bucket, label)"
	}
	b.WriteString(" SELECT count() OVER (), bucket, label")
	for _, f := range q.metrics {
		b.WriteString(", " + f.name)
	}
	size, _ := q.a.PageSize()
	b.WriteString(from + " ORDER BY " + requestlog.AnalysisOrder(q.a, orders) + " LIMIT " + strconv.Itoa(size) + " OFFSET " + strconv.Itoa(q.a.Offset))
	return b.String()
}

// attempts returns SQL for the rows with their bucket and label, and with the joined tables.
func (q *question) attempts(joined string) string {
	var group []string
	if q.a.By != record.ByNothing {
		group = append(group, "label != ''")
	}
	return "SELECT *, " + q.bucket + " AS bucket, " + q.label + " AS label FROM (SELECT * FROM attempts FINAL" + q.where() + ") AS attempts" + joined + whereAll(group)
}

func whereAll(conditions []string) string {
	if len(conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}
