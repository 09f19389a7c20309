package duckdb

import (
	"strings"

	"sluice/internal/record"
)

// judgedRows put together what feedback says: how many rows of a bucket and label are judged,
// and what that is. A feedback counts in the first bucket of its trace. Rows that are the only
// ones of their trace are added up; those of other traces are looked at trace by trace.
func (q *question) judgedRows() (ctes []string) {
	c := q.heardCover()
	fresh := q.unheard(c)
	if len(fresh) > 0 {
		ctes = append(ctes, "said AS ("+q.said(c, fresh)+")", "fresh AS MATERIALIZED ("+q.freshRows(fresh)+")")
	}
	ctes = append(ctes, "shared_rows AS NOT MATERIALIZED ("+q.sharedRows(c, len(fresh) > 0)+")", "shared AS MATERIALIZED ("+q.labelled("shared_rows")+")")
	trace := strings.Join(q.trace(), ", ")
	all := []string{
		"SELECT bucket, label, count(*) AS judged, 0 AS feedbacks, 0 AS weighted FROM shared GROUP BY bucket, label",
		"SELECT min(bucket) AS bucket, label, 0 AS judged, any_value(feedbacks) AS feedbacks, any_value(weighted) AS weighted FROM shared GROUP BY label, " + trace,
	}
	if c.kept() {
		ctes = append(ctes, "single_rows AS NOT MATERIALIZED ("+q.singleRows(c, len(fresh) > 0)+")", "single AS NOT MATERIALIZED ("+q.added("single_rows")+")")
		all = append(all, "SELECT * FROM single")
	}
	return append(ctes, "voices AS (SELECT bucket, label, sum(judged) AS judged, sum(feedbacks) AS feedbacks, sum(weighted) AS weighted FROM ("+
		strings.Join(all, " UNION ALL BY NAME ")+") GROUP BY bucket, label)")
}

// trace are the columns that a trace is known by.
func (q *question) trace() []string {
	if q.a.Query.WorkspaceID != "" {
		return []string{"trace_id"}
	}
	return []string{"workspace_id", "trace_id"}
}

// said is what feedback says of the traces of fresh rows, or of all where no others are known.
func (q *question) said(c *cover, fresh []string) string {
	said := &where{}
	said.add("org_id = ?", textParam(q.a.Query.OrgID))
	if q.a.Query.WorkspaceID != "" {
		said.add("workspace_id = ?", textParam(q.a.Query.WorkspaceID))
	}
	if c.kept() {
		said.add(amongTraces(fresh))
	}
	q.args = append(q.args, said.args...)
	columns := strings.Join(q.trace(), ", ")
	if q.a.By == record.ByScore {
		columns += ", value AS score"
	}
	return "SELECT " + columns + ", count(*) AS feedbacks, sum(value * weight) AS weighted FROM feedback" + said.sql() + " GROUP BY ALL"
}

// amongTraces is that a trace is one of those of parts of attempts.
func amongTraces(parts []string) string {
	return "trace_id IN (SELECT trace_id FROM (" + strings.Join(parts, " UNION ALL ") + "))"
}

// heardCover covers the time with hours whose judged rows are known, which may reach over its
// ends; with none where a query selects by what these do not have.
func (q *question) heardCover() *cover {
	of := q.a.Query
	of.Weighted, of.Metadata = record.FloatRange{}, nil // which judged rows have
	whole := spanOf(of.From, of.To)
	if beyond(&of) {
		return coverOf(whole, nil)
	}
	var usable []slot
	for s, has := range q.has {
		if has&heard != 0 {
			usable = append(usable, s)
		}
	}
	c := coverOf(whole.hours(), usable)
	c.rows = whole.clip(c.rows)
	return c
}

// unheard are the parts of attempts that may have judged rows which are not known: those of times
// that are not covered, and those of traces whose feedback changed.
func (q *question) unheard(c *cover) (parts []string) {
	if len(c.rows) > 0 {
		parts = append(parts, "SELECT * FROM "+spanned("attempts", "started", c.rows))
	}
	if q.pending && c.kept() {
		parts = append(parts, "SELECT * FROM "+spanned("attempts", "started", c.slots[byHours])+" WHERE "+isWaiting)
	}
	return parts
}

// isWaiting is that of rows whose trace waits to be settled.
const isWaiting = "trace_id IN (SELECT trace_id FROM pending_traces)"

// known are the judged rows of the cover that meet a condition.
func (q *question) known(c *cover, condition string) string {
	if q.pending {
		condition += " AND NOT " + isWaiting
	}
	return "(SELECT * FROM " + spanned("heard", "started", c.slots[byHours]) + " WHERE " + condition + ")"
}

// selected are the rows of a source that the query selects and w, with what buckets and labels are
// made of, and what is said of them.
func (q *question) selected(from, said string, w *where) string {
	w.add(spanOf(q.a.Query.From, q.a.Query.To).within("started"))
	q.args = append(append(q.args, q.src.series.args...), w.args...)
	return "SELECT " + strings.Join(q.judgedColumns(), ", ") + ", " + said + from + w.sql()
}

// freshRows are judged rows of attempts.
func (q *question) freshRows(parts []string) string {
	from := q.src.fromTable("("+strings.Join(parts, " UNION ALL ")+")") + " JOIN said USING (" + strings.Join(q.trace(), ", ") + ")"
	return q.selected(from, "feedbacks, weighted", q.src.rows())
}

// singleRows are those that are the only ones of their trace.
func (q *question) singleRows(c *cover, fresh bool) string {
	condition := q.voice() + " AND alone"
	if fresh {
		condition += " AND trace_id NOT IN (SELECT trace_id FROM fresh)"
	}
	return q.selected(q.src.fromTable(q.known(c, condition)), q.voiced(), q.src.heardRows())
}

// sharedRows are all others.
func (q *question) sharedRows(c *cover, fresh bool) string {
	var parts []string
	if fresh {
		parts = append(parts, "SELECT * FROM fresh")
	}
	if c.kept() {
		condition := q.voice() + " AND NOT alone"
		if fresh {
			condition = q.voice() + " AND (NOT alone OR trace_id IN (SELECT trace_id FROM fresh))"
		}
		parts = append(parts, q.selected(q.src.fromTable(q.known(c, condition)), q.voiced(), q.src.heardRows()))
	}
	return strings.Join(parts, " UNION ALL BY NAME ")
}

// voice is which of the rows for each score are read.
func (q *question) voice() string {
	if q.a.By == record.ByScore {
		return "true"
	}
	return "lead"
}

// voiced are the columns of what is said of a trace, or of its score.
func (q *question) voiced() string {
	if q.a.By == record.ByScore {
		return "score_feedbacks AS feedbacks, score_weighted AS weighted"
	}
	return "feedbacks, weighted"
}

// labelled are judged rows with their bucket and label, and with their trace.
func (q *question) labelled(rows string) string {
	return "SELECT " + q.bucket() + " AS bucket, " + q.label() + " AS label, " + strings.Join(q.trace(), ", ") + ", feedbacks, weighted FROM " + rows + q.hasLabel()
}

// added are judged rows by bucket and label. Texts of metadata repeat, and to read one takes
// longer than to find its group.
func (q *question) added(rows string) string {
	const sums = "count(*) AS judged, sum(feedbacks) AS feedbacks, sum(weighted) AS weighted"
	if q.a.By != record.ByMetadata {
		return "SELECT " + q.bucket() + " AS bucket, " + q.label() + " AS label, " + sums + " FROM " + rows + q.hasLabel() + " GROUP BY ALL"
	}
	label := q.label() // whose values stand before those of the bucket
	return "SELECT * EXCLUDE metadata, " + label + " AS label FROM (SELECT " + q.bucket() + " AS bucket, metadata, " + sums + " FROM " + rows + " GROUP BY ALL)" + q.hasLabel()
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
	case record.ByScore:
		columns = append(columns, "score")
	default:
		columns = append(columns, dimensions[q.a.By].sql)
	}
	return columns
}
