package duckdb

import (
	"maps"
	"slices"
	"strings"

	"sluice/internal/domain/record"
)

// source builds the FROM clause of a statement: the attempts that a query selects, each
// with columns of its series. Conditions on strings select series, of which there are few.
type source struct {
	columns  []string // of series
	series   where
	facets   where // on columns of rows that facet rollups also have
	pairs    where // on metadata
	others   where
	average  where // on the average feedback of a trace, in the form for feedback rows
	feedback where // on feedback of the same organisation; used together with average
}

// need adds a column of the series.
func (s *source) need(column string) {
	if !slices.Contains(s.columns, column) {
		s.columns = append(s.columns, column)
	}
}

// sql returns the statement, beginning with FROM.
func (s *source) sql() string { return s.from() + s.rows().sql() }

// from returns sql without the conditions on rows, limited to the spans in if there are any.
func (s *source) from(in ...span) string {
	if len(in) == 0 {
		return s.fromTable("attempts")
	}
	return s.fromTable(spanned("attempts", "started", in))
}

// fromTable is from with a table, or a part of the statement, instead of attempts.
func (s *source) fromTable(table string) string {
	return " FROM " + table + " AS attempts JOIN (SELECT " + strings.Join(append([]string{"id AS series"}, s.columns...), ", ") +
		" FROM series" + s.series.sql() + ") USING (series)"
}

// rows returns the conditions on rows. The condition on the average feedback of their trace
// reads all feedback, or only feedback that meets the conditions in traces.
func (s *source) rows(traces ...string) *where {
	w := s.rowConditions()
	if len(s.average.conditions) == 0 {
		return w
	}
	having := strings.ReplaceAll(strings.Join(s.average.conditions, " AND "), averageFeedback, "avg(value * weight)")
	combined := where{conditions: slices.Concat(s.feedback.conditions, traces)}
	w.add("(workspace_id, trace_id) IN (SELECT (workspace_id, trace_id) FROM feedback"+combined.sql()+" GROUP BY workspace_id, trace_id HAVING "+having+")", slices.Concat(s.feedback.args, s.average.args)...)
	return w
}

// feedbackConditions returns the conditions on rows with feedback.
func (s *source) feedbackConditions() *where {
	w := s.rowConditions()
	w.conditions, w.args = append(w.conditions, s.average.conditions...), append(w.args, s.average.args...)
	return w
}

// rowConditions returns the conditions on columns of rows.
func (s *source) rowConditions() *where {
	w := new(where)
	for _, combined := range [...]*where{&s.facets, &s.pairs, &s.others} {
		w.conditions, w.args = append(w.conditions, combined.conditions...), append(w.args, combined.args...)
	}
	return w
}

// args returns the values of the conditions, in the order of sql.
func (s *source) args() []any { return slices.Concat(s.series.args, s.rows().args) }

// where collects the conditions of a statement, joined by AND.
type where struct {
	conditions []string
	args       []any
}

func (w *where) add(condition string, args ...any) {
	w.conditions = append(w.conditions, condition)
	w.args = append(w.args, args...)
}

// addIn adds the condition that a column has one of the values. Without values it adds nothing.
func (w *where) addIn(column string, values []string) {
	if len(values) == 0 {
		return
	}
	w.conditions = append(w.conditions, column+" IN ("+marks(len(values))+")")
	for _, v := range values {
		w.args = append(w.args, textParam(v))
	}
}

// keys adds the condition that a column has the key of one of the ids. Without ids it adds
// nothing.
func (w *where) keys(column string, ids []string) {
	if len(ids) == 0 {
		return
	}
	w.conditions = append(w.conditions, column+" IN ("+marks(len(ids))+")")
	for _, id := range ids {
		w.args = append(w.args, keyParam(id))
	}
}

// pairs adds the condition that provider and model are one of the pairs. Without pairs it
// adds nothing.
func (w *where) pairs(pairs []record.Pair) {
	if len(pairs) == 0 {
		return
	}
	var any []string
	for _, p := range pairs {
		any = append(any, "provider = ? AND model = ?")
		w.args = append(w.args, textParam(p.Provider), textParam(p.Model))
	}
	w.conditions = append(w.conditions, "("+strings.Join(any, " OR ")+")")
}

// metadata adds the condition that a row has all pairs. Each condition first searches the
// JSON string for the pair, which is faster than to extract the value.
func (w *where) metadata(pairs map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		value := pairs[key]
		w.add("CASE WHEN contains(metadata, ?) THEN json_extract_string(metadata, ?) = ? ELSE false END",
			metadataHint(key)+string(appendJSON(nil, value)), metadataPath(key), textParam(value))
	}
}

// textParam returns a string as the database accepts and stores it: invalid UTF-8 is replaced.
func textParam(v string) string { return strings.ToValidUTF8(v, "\uFFFD") }

// sql returns the WHERE clause with a leading blank, or "" without conditions.
func (w *where) sql() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conditions, " AND ")
}

// marks returns n placeholders: "?, ?, ?".
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// filter translates a query, except its time and its cursor.
func filter(q record.Query) *source {
	src := new(source)
	s, w := &src.series, &src.others
	s.add("org_id = ?", textParam(q.OrgID))
	if q.WorkspaceID != "" {
		s.addIn("workspace_id", []string{q.WorkspaceID})
	}
	if q.UserID != "" {
		s.addIn("user_id", []string{q.UserID})
	}
	s.addIn("model", q.Models)
	s.addIn("provider", q.Providers)
	s.addIn("key_id", q.KeyIDs)
	s.addIn("config_id", q.Configs)
	s.addIn("provider_id", q.ProviderIDs)
	s.addIn("cache_status", q.CacheStatuses)
	s.pairs(q.Pairs)
	w.keys("trace_id", q.TraceIDs)
	w.addIn("span_id", q.SpanIDs)
	src.facets.addIn("prompt_slug", q.PromptSlugs)
	src.facets.statuses(q.Statuses)
	if q.RequestID != "" {
		w.keys("request_id", []string{q.RequestID})
	}
	w.addRange(tokens, q.Total)
	w.addRange("input_tokens", q.Input)
	w.addRange("output_tokens", q.Output)
	w.addRange("cost_nano", q.Cost)
	src.pairs.metadata(q.Metadata)
	if q.ByArrival {
		w.add("arrived IS NOT NULL")
	}
	src.weighted(q)
	return src
}

// timed translates a query, except its cursor.
func timed(q record.Query) *source {
	src := filter(q)
	src.others.add(spanOf(q.From, q.To).condition("started"))
	return src
}

// averageFeedback is the average feedback on the trace of a row in the feedback table.
const averageFeedback = "attempts.weighted / attempts.feedbacks"

// weighted adds the condition that the average feedback on the trace is in q.Weighted.
func (s *source) weighted(q record.Query) {
	if q.Weighted.Open() {
		return
	}
	s.need("workspace_id")
	s.feedback.add("org_id = ?", textParam(q.OrgID))
	if q.Weighted.Min != nil {
		s.average.add(averageFeedback+" >= ?", *q.Weighted.Min)
	}
	if q.Weighted.Max != nil {
		s.average.add(averageFeedback+" <= ?", *q.Weighted.Max)
	}
}

// tokens is the expression for record.Attempt.Tokens. HUGEINT holds the sum of two 64-bit
// numbers.
const tokens = "greatest(total_tokens::HUGEINT, input_tokens::HUGEINT + output_tokens)"

// addRange adds the condition that a number is in a range.
func (w *where) addRange(number string, r record.Range) {
	if r.Min != nil {
		w.add(number+" >= ?", *r.Min)
	}
	if r.Max != nil {
		w.add(number+" <= ?", *r.Max)
	}
}

func (w *where) statuses(ranges []record.StatusRange) {
	if len(ranges) == 0 {
		return
	}
	var any []string
	for _, r := range ranges {
		any = append(any, "status BETWEEN ? AND ?")
		w.args = append(w.args, r.Min, r.Max)
	}
	w.conditions = append(w.conditions, "("+strings.Join(any, " OR ")+")")
}

// after adds the condition that rows follow the cursor. With its first comparison the
// database can skip complete row groups.
func (w *where) after(q record.Query) error {
	if q.After == "" {
		return nil
	}
	started, id, err := q.After.Split()
	if err != nil {
		return err
	}
	key := keyParam(id)
	switch {
	case q.ByArrival:
		w.add("arrived >= ? AND (arrived > ? OR id > ?)", started, started, key)
	case q.Newest:
		w.add("started <= ? AND (started < ? OR id < ?)", started, started, key)
	default:
		w.add("started >= ? AND (started > ? OR id > ?)", started, started, key)
	}
	return nil
}
