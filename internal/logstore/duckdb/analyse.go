package duckdb

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"sluice/internal/record"
)

// Analyse implements logstore.Rows.
func (d *DB) Analyse(ctx context.Context, a record.Analysis) (record.AnalysisPage, error) {
	if err := a.Validate(); err != nil {
		return record.AnalysisPage{}, err
	}
	page, err := d.analyse(ctx, &a)
	if err == nil && len(page.Rows) == 0 && a.Offset > 0 { // whose rows told their number?
		first := a
		first.Offset, first.Limit = 0, 1
		var whole record.AnalysisPage
		whole, err = d.analyse(ctx, &first)
		page.Total = whole.Total
	}
	if err != nil {
		return record.AnalysisPage{}, err
	}
	if _, cut := a.PageSize(); !cut && page.Total > record.MaxGroups {
		return record.AnalysisPage{}, record.TooMany()
	}
	return page, nil
}

// analyse runs the one statement of an analysis.
func (d *DB) analyse(ctx context.Context, a *record.Analysis) (page record.AnalysisPage, err error) {
	q := newQuestion(a)
	rows, err := d.sql.QueryContext(ctx, q.sql(), q.args...)
	if err != nil {
		return page, fmt.Errorf("analyse log rows: %w", err)
	}
	defer func() { _ = rows.Close() }() // Err below tells
	for rows.Next() {
		var row record.AnalysisRow
		var bucket int64
		dest := []any{&page.Total, &bucket, &row.Value}
		for _, f := range q.figures {
			dest = append(dest, f.into(&row.Figures))
		}
		if err := rows.Scan(dest...); err != nil {
			return page, fmt.Errorf("read analysis: %w", err)
		}
		if a.Step > 0 {
			row.Start = startOf(bucket, a)
		}
		row.First, row.Last = row.First.UTC(), row.Last.UTC()
		page.Rows = append(page.Rows, row)
	}
	if err := rows.Err(); err != nil {
		return page, fmt.Errorf("read analysis: %w", err)
	}
	if single(a) && page.Total == 0 {
		page.Total = 1
		if a.Offset == 0 {
			page.Rows = []record.AnalysisRow{{}}
		}
	}
	return page, nil
}

// firstMonday is where buckets are counted from.
var firstMonday time.Time

// startOf is when a bucket begins.
func startOf(bucket int64, a *record.Analysis) time.Time {
	return time.UnixMicro(bucket*a.Step.Microseconds() + firstMonday.UnixMicro() - a.Zone.Microseconds()).UTC()
}

// single reports whether there is one row for everything.
func single(a *record.Analysis) bool { return a.Step == 0 && a.By == record.ByNothing }

// question is the statement of an analysis, and its values in their order.
type question struct {
	a       *record.Analysis
	src     *source
	figures []figure // columns of the answer
	inner   []string // what is worked out over attempts
	args    []any
}

func newQuestion(a *record.Analysis) *question {
	q := &question{a: a, src: filter(a.Query)}
	want := a.Want
	if a.By == record.ByScore {
		want &= record.WantFeedback
	}
	if of := dimensions[a.By].of; of != "" {
		q.src.need(of)
	}
	for _, f := range figures {
		if f.want&^want != 0 {
			continue
		}
		if a.By == record.ByScore && f.want == 0 {
			f.sql = "0"
		}
		if f.of != "" {
			q.src.need(f.of)
		}
		q.inner = append(q.inner, f.sql+" AS "+f.name)
		q.figures = append(q.figures, figure{name: f.name, into: f.into})
	}
	if want&record.WantPercentiles != 0 {
		q.inner = append(q.inner, percentiles+" AS percentiles")
		for i, into := range [...]func(*record.Figures) *time.Duration{
			func(f *record.Figures) *time.Duration { return &f.P50 }, func(f *record.Figures) *time.Duration { return &f.P90 },
			func(f *record.Figures) *time.Duration { return &f.P95 }, func(f *record.Figures) *time.Duration { return &f.P99 },
		} {
			q.figures = append(q.figures, figure{name: fmt.Sprintf("percentiles[%d]", i+1), into: func(f *record.Figures) any { return (*int64)(into(f)) }})
		}
	}
	if want&record.WantFeedback != 0 {
		q.figures = append(q.figures,
			figure{name: "coalesce(voices.feedbacks, 0)::BIGINT", into: func(f *record.Figures) any { return &f.Feedbacks }},
			figure{name: "coalesce(voices.weighted, 0)::DOUBLE", into: func(f *record.Figures) any { return &f.Weighted }})
	}
	if q.judged() {
		q.src.need("workspace_id")
	}
	return q
}

// judged reports whether attempts are joined with the feedback on their traces.
func (q *question) judged() bool {
	return q.a.Want&record.WantFeedback != 0 || q.a.By == record.ByScore
}

// sql is the statement; it fills in args.
func (q *question) sql() string {
	var b strings.Builder
	b.WriteString("WITH ")
	if q.judged() {
		b.WriteString("judged AS (SELECT workspace_id, trace_id, " + q.score() + "count(*) AS feedbacks, sum(value * weight) AS weighted FROM feedback WHERE org_id = ? GROUP BY ALL), ")
		q.args = append(q.args, textParam(q.a.Query.OrgID))
	}
	outer := " LEFT JOIN judged USING (workspace_id, trace_id)"
	if !q.judged() {
		outer = ""
	} else if q.a.By == record.ByScore {
		outer = " JOIN judged USING (workspace_id, trace_id)"
	}
	b.WriteString("counted AS (SELECT bucket, label, " + strings.Join(q.inner, ", ") + " FROM (" + q.attempts(outer) + ") GROUP BY bucket, label)")
	from := " FROM counted"
	if q.a.Want&record.WantFeedback != 0 {
		b.WriteString(", voices AS (SELECT bucket, label, sum(feedbacks) AS feedbacks, sum(weighted) AS weighted FROM (" +
			"SELECT min(bucket) AS bucket, label, any_value(feedbacks) AS feedbacks, any_value(weighted) AS weighted FROM (" +
			q.attempts(" JOIN judged USING (workspace_id, trace_id)") + ") GROUP BY label, workspace_id, trace_id) GROUP BY bucket, label)")
		from += " LEFT JOIN voices USING (bucket, label)"
	}
	b.WriteString(" SELECT count(*) OVER (), bucket, label")
	for _, f := range q.figures {
		b.WriteString(", " + f.name)
	}
	size, _ := q.a.PageSize()
	b.WriteString(from + " ORDER BY " + q.order() + " LIMIT ? OFFSET ?")
	q.args = append(q.args, size, q.a.Offset)
	return b.String()
}

// score is a part of the keys of judged.
func (q *question) score() string {
	if q.a.By == record.ByScore {
		return "value AS score, "
	}
	return ""
}

// attempts are the rows with their bucket and label, and with what is joined to them.
func (q *question) attempts(joined string) string {
	bucket, label := "0::BIGINT", "''"
	if q.a.Step > 0 {
		bucket = "(epoch_us(started) + ?::BIGINT) // ?::BIGINT"
		q.args = append(q.args, q.a.Zone.Microseconds()-firstMonday.UnixMicro(), q.a.Step.Microseconds())
	}
	if q.a.By != record.ByNothing {
		label = dimensions[q.a.By].sql
	}
	if q.a.By == record.ByMetadata {
		q.args = append(q.args, metadataHint(q.a.Key), metadataPath(q.a.Key))
	}
	q.args = append(q.args, q.src.args()...)
	w := q.src.attempts
	if q.a.By != record.ByNothing {
		w.conditions = append(w.conditions[:len(w.conditions):len(w.conditions)], "label <> ''")
	}
	return "SELECT *, " + bucket + " AS bucket, " + label + " AS label" + q.src.from() + joined + w.sql()
}

// order is that of the rows.
func (q *question) order() string {
	switch {
	case q.a.Step > 0:
		return "bucket, label"
	case q.a.By == record.ByScore:
		return "label"
	}
	direction := " DESC"
	if q.a.Ascending {
		direction = ""
	}
	return orders[cmp.Or(q.a.Order, record.ColumnRequests)] + direction + ", label"
}
