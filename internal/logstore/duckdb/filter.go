package duckdb

import (
	"maps"
	"slices"
	"strings"

	"sluice/internal/record"
)

// source is what a statement reads: the attempts that a query selects, each with columns
// of its series. Conditions on texts select series, of which there are few.
type source struct {
	columns  []string // of series
	series   where
	facets   where // on columns of rows by which sums are kept, too
	pairs    where // on metadata
	others   where
	average  where // on the average of what is said of a trace, as judged rows have it
	feedback where // on feedback of the same organisation, with average
}

// need adds a column of the series.
func (s *source) need(column string) {
	if !slices.Contains(s.columns, column) {
		s.columns = append(s.columns, column)
	}
}

// sql is the statement from FROM on.
func (s *source) sql() string { return s.from() + s.rows().sql() }

// from is sql without the conditions on rows.
func (s *source) from(in ...span) string {
	if len(in) == 0 {
		return s.fromTable("attempts")
	}
	return s.fromTable(spanned("attempts", "started", in))
}

// fromTable is from with a table, or a part of the statement, in the place of attempts.
func (s *source) fromTable(table string) string {
	return " FROM " + table + " AS attempts JOIN (SELECT " + strings.Join(append([]string{"id AS series"}, s.columns...), ", ") +
		" FROM series" + s.series.sql() + ") USING (series)"
}

// rows are the conditions on rows. That their trace is judged as the query wants it is found out
// from all feedback, or from that on traces which meet further conditions.
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

// feedbackConditions are the conditions on judged rows.
func (s *source) feedbackConditions() *where {
	w := s.rowConditions()
	w.conditions, w.args = append(w.conditions, s.average.conditions...), append(w.args, s.average.args...)
	return w
}

// rowConditions are the conditions on columns of rows.
func (s *source) rowConditions() *where {
	w := new(where)
	for _, combined := range [...]*where{&s.facets, &s.pairs, &s.others} {
		w.conditions, w.args = append(w.conditions, combined.conditions...), append(w.args, combined.args...)
	}
	return w
}

// args are the values of the conditions, in the order of sql.
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

// addIn adds that a column has one of the values; nothing when there are none.
func (w *where) addIn(column string, values []string) {
	if len(values) == 0 {
		return
	}
	w.conditions = append(w.conditions, column+" IN ("+marks(len(values))+")")
	for _, v := range values {
		w.args = append(w.args, textParam(v))
	}
}

// keys adds that a column has the key of one of the ids; nothing when there are none.
func (w *where) keys(column string, ids []string) {
	if len(ids) == 0 {
		return
	}
	w.conditions = append(w.conditions, column+" IN ("+marks(len(ids))+")")
	for _, id := range ids {
		w.args = append(w.args, keyParam(id))
	}
}

// pairs adds that the model is one of those at its provider.
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

// metadata adds that all pairs are there. That the text has them is found out faster than
// that they are where they belong.
func (w *where) metadata(pairs map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		value := pairs[key]
		w.add("CASE WHEN contains(metadata, ?) THEN json_extract_string(metadata, ?) = ? ELSE false END",
			metadataHint(key)+string(appendJSON(nil, value)), metadataPath(key), textParam(value))
	}
}

// textParam is a text as the database takes it, and as it keeps it.
func textParam(v string) string { return strings.ToValidUTF8(v, "\uFFFD") }

// sql is the clause, with a leading blank; empty without conditions.
func (w *where) sql() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conditions, " AND ")
}

// marks is "?, ?, ?".
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// filter translates a query, but for its time and its cursor.
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

// timed is filter with the time.
func timed(q record.Query) *source {
	src := filter(q)
	src.others.add(spanOf(q.From, q.To).condition("started"))
	return src
}

// averageFeedback is the average of what was said of the trace of a judged row.
const averageFeedback = "attempts.weighted / attempts.feedbacks"

// weighted adds that the average of what was said of the trace is in a range.
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

// tokens are those of record.Attempt.Tokens. The sum of two numbers of the widest kind
// needs a wider one.
const tokens = "greatest(total_tokens::HUGEINT, input_tokens::HUGEINT + output_tokens)"

// addRange adds that a number is in a range.
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

// after adds the place of the cursor. The first comparison is one that lets whole
// row groups be passed over.
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
