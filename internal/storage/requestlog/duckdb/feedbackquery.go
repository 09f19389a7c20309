package duckdb

import (
	"strings"

	"sluice/internal/domain/record"
)

// feedbackRows aggregates feedback: how many rows of a bucket and label have feedback, and its
// values. A feedback counts in the first bucket of its trace. Rows that are the only ones of
// their trace are added up; rows of other traces are grouped by trace.
func (q *question) feedbackRows() (ctes []string) {
	c := q.feedbackCover()
	fresh := q.uncoveredParts(c)
	if fresh.any() {
		ctes = append(ctes, "said AS ("+q.traceFeedbackSQL(c, fresh)+")", "fresh AS MATERIALIZED ("+q.freshRows(fresh)+")")
	}
	ctes = append(ctes, "shared_rows AS NOT MATERIALIZED ("+q.sharedRows(c, fresh.any())+")", "shared AS MATERIALIZED ("+q.labelled("shared_rows")+")")
	trace := strings.Join(q.trace(), ", ")
	all := []string{
		"SELECT bucket, label, count(*) AS judged, 0 AS feedbacks, 0 AS weighted FROM shared GROUP BY bucket, label",
		"SELECT min(bucket) AS bucket, label, 0 AS judged, any_value(feedbacks) AS feedbacks, any_value(weighted) AS weighted FROM shared GROUP BY label, " + trace,
	}
	if c.hasBuckets() {
		ctes = append(ctes, "single_rows AS NOT MATERIALIZED ("+q.singleRows(c, fresh.any())+")", "single AS NOT MATERIALIZED ("+q.added("single_rows")+")")
		all = append(all, "SELECT * FROM single")
	}
	return append(ctes, "voices AS (SELECT bucket, label, sum(judged) AS judged, sum(feedbacks) AS feedbacks, sum(weighted) AS weighted FROM ("+
		strings.Join(all, " UNION ALL BY NAME ")+") GROUP BY bucket, label)")
}

// trace returns the columns that identify a trace.
func (q *question) trace() []string {
	if q.a.Query.WorkspaceID != "" {
		return []string{"trace_id"}
	}
	return []string{"workspace_id", "trace_id"}
}

// traceFeedbackSQL returns the feedback of the traces of fresh rows, or of all traces if no
// others are known.
func (q *question) traceFeedbackSQL(c *bucketCover, fresh uncoveredParts) string {
	feedback := &where{}
	feedback.add("org_id = ?", textParam(q.a.Query.OrgID))
	if q.a.Query.WorkspaceID != "" {
		feedback.add("workspace_id = ?", textParam(q.a.Query.WorkspaceID))
	}
	if c.hasBuckets() {
		feedback.add(fresh.among())
	}
	q.args = append(q.args, feedback.args...)
	columns := strings.Join(q.trace(), ", ")
	if q.a.By == record.ByScore {
		columns += ", value AS score"
	}
	return "SELECT " + columns + ", count(*) AS feedbacks, sum(value * weight) AS weighted FROM feedback" + feedback.sql() + " GROUP BY ALL"
}

// feedbackCover covers the time with hours whose rows with feedback are stored; the hours may
// extend beyond its ends. The cover has no hours if the query filters by columns that those rows
// lack.
func (q *question) feedbackCover() *bucketCover {
	query := q.a.Query
	query.Weighted, query.Metadata = record.FloatRange{}, nil // rows with feedback have these
	period := spanOf(query.From, query.To)
	if beyond(&query) || q.a.By == record.ByUnpriced {
		return coverOf(period, nil)
	}
	var usable []bucket
	for s, has := range q.has {
		if has&feedbackRows != 0 {
			usable = append(usable, s)
		}
	}
	c := coverOf(period.hours(), usable)
	c.rows = period.clip(c.rows)
	return c
}

// uncoveredParts are the parts of attempts that may have rows with feedback which are not stored
// yet, and the sources of their traces.
type uncoveredParts struct{ parts, traces []string }

// uncoveredParts returns the parts in times that are not covered, and in traces whose feedback
// changed.
func (q *question) uncoveredParts(c *bucketCover) (u uncoveredParts) {
	if len(c.rows) > 0 {
		u.add("SELECT * FROM " + spanned("attempts", "started", c.rows))
	}
	if q.pending && c.hasBuckets() {
		u.parts = append(u.parts, "SELECT * FROM "+spanned("attempts", "started", c.slots[byHours])+" WHERE "+isWaiting)
		u.traces = append(u.traces, "SELECT trace_id FROM pending_traces")
	}
	return u
}

// add uses the part also as the source of its traces.
func (u *uncoveredParts) add(part string) {
	u.parts = append(u.parts, part)
	u.traces = append(u.traces, "SELECT trace_id FROM ("+part+")")
}

func (u *uncoveredParts) any() bool { return len(u.parts) > 0 }

// from returns an SQL expression to use instead of attempts.
func (u *uncoveredParts) from() string { return "(" + strings.Join(u.parts, " UNION ALL ") + ")" }

// among returns the condition that a trace may be in one of the parts.
func (u *uncoveredParts) among() string {
	return "trace_id IN (" + strings.Join(u.traces, " UNION ALL ") + ")"
}

// isWaiting is the condition of rows whose trace is pending.
const isWaiting = "trace_id IN (SELECT trace_id FROM pending_traces)"

// storedFeedback returns the stored rows with feedback in the cover that meet a condition. If traces
// are pending, it leaves out their rows.
func storedFeedback(pending bool, c *bucketCover, condition string) string {
	if pending {
		condition += " AND NOT " + isWaiting
	}
	return "(SELECT * FROM " + spanned("heard", "started", c.slots[byHours]) + " WHERE " + condition + ")"
}

// selected returns the rows of a source that the query and w select, with the columns of buckets
// and labels, and with their feedback.
func (q *question) selected(from, feedback string, w *where) string {
	w.add(spanOf(q.a.Query.From, q.a.Query.To).condition("started"))
	q.args = append(append(q.args, q.src.series.args...), w.args...)
	return "SELECT " + strings.Join(q.judgedColumns(), ", ") + ", " + feedback + from + w.sql()
}

// freshRows returns rows with feedback from attempts.
func (q *question) freshRows(u uncoveredParts) string {
	from := q.src.fromTable(u.from()) + " JOIN said USING (" + strings.Join(q.trace(), ", ") + ")"
	return q.selected(from, "feedbacks, weighted", q.src.rows())
}

// singleRows returns rows that are the only ones of their trace.
func (q *question) singleRows(c *bucketCover, fresh bool) string {
	condition := q.feedbackCondition() + " AND alone"
	if fresh {
		condition += " AND trace_id NOT IN (SELECT trace_id FROM fresh)"
	}
	return q.selected(q.src.fromTable(storedFeedback(q.pending, c, condition)), q.voiced(), q.src.feedbackConditions())
}

// sharedRows returns all other rows.
func (q *question) sharedRows(c *bucketCover, fresh bool) string {
	var parts []string
	if fresh {
		parts = append(parts, "SELECT * FROM fresh")
	}
	if c.hasBuckets() {
		condition := q.feedbackCondition() + " AND NOT alone"
		if fresh {
			condition = q.feedbackCondition() + " AND (NOT alone OR trace_id IN (SELECT trace_id FROM fresh))"
		}
		parts = append(parts, q.selected(q.src.fromTable(storedFeedback(q.pending, c, condition)), q.voiced(), q.src.feedbackConditions()))
	}
	return strings.Join(parts, " UNION ALL BY NAME ")
}

// feedbackCondition returns the condition for the rows of each score that are read.
func (q *question) feedbackCondition() string {
	if q.a.By == record.ByScore {
		return "true"
	}
	return "lead"
}

// voiced returns the columns of a trace's feedback, or of its score.
func (q *question) voiced() string {
	if q.a.By == record.ByScore {
		return "score_feedbacks AS feedbacks, score_weighted AS weighted"
	}
	return "feedbacks, weighted"
}

// labelled returns rows with feedback with their bucket, label and trace.
func (q *question) labelled(rows string) string {
	return "SELECT " + q.bucket() + " AS bucket, " + q.label() + " AS label, " + strings.Join(q.trace(), ", ") + ", feedbacks, weighted FROM " + rows + q.hasLabel()
}

// added aggregates rows with feedback by bucket and label. Metadata texts repeat, and parsing one
// takes longer than finding its group.
func (q *question) added(rows string) string {
	const columns = "count(*) AS judged, sum(feedbacks) AS feedbacks, sum(weighted) AS weighted"
	if q.a.By != record.ByMetadata {
		return "SELECT " + q.bucket() + " AS bucket, " + q.label() + " AS label, " + columns + " FROM " + rows + q.hasLabel() + " GROUP BY ALL"
	}
	label := q.label() // its parameters precede those of the bucket
	return "SELECT * EXCLUDE metadata, " + label + " AS label FROM (SELECT " + q.bucket() + " AS bucket, metadata, " + columns + " FROM " + rows + " GROUP BY ALL)" + q.hasLabel()
}

// judgedColumns returns the columns of rows with feedback that buckets and labels need.
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
	case record.ByScore:
		columns = append(columns, "score")
	case record.ByUnpriced:
		columns = append(columns, "unpriced", "provider", "model")
	default:
		columns = append(columns, dimensions[q.a.By].sql)
	}
	return columns
}
