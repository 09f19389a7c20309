package clickhouse

import (
	"maps"
	"slices"
	"strings"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog/clickhouse/client"
)

// selection selects attempts: conditions joined by AND, and their values, which are bound
// together with all other values of a statement.
type selection struct {
	client.Params
	conditions []string
}

func (s *selection) add(condition string) { s.conditions = append(s.conditions, condition) }

// where returns the WHERE clause, with a leading space.
func (s *selection) where() string { return " WHERE " + strings.Join(s.conditions, " AND ") }

// filter translates a query, except its cursor.
func filter(q record.Query) *selection {
	s := new(selection)
	s.add("org_id = " + s.Text(q.OrgID))
	s.is("workspace_id", q.WorkspaceID)
	s.is("user_id", q.UserID)
	s.is("request_id", q.RequestID)
	s.addIn("trace_id", q.TraceIDs)
	s.addIn("span_id", q.SpanIDs)
	s.addIn("model", q.Models)
	s.addIn("provider", q.Providers)
	s.addIn("key_id", q.KeyIDs)
	s.addIn("config_id", q.Configs)
	s.addIn("provider_id", q.ProviderIDs)
	s.addIn("prompt_slug", q.PromptSlugs)
	s.addIn("cache_status", q.CacheStatuses)
	s.pairs(q.Pairs)
	if !q.From.IsZero() {
		s.add("started >= " + s.Time(q.From))
	}
	if !q.To.IsZero() {
		s.add("started < " + s.Time(q.To))
	}
	s.statuses(q.Statuses)
	s.addRange(tokens, q.Total)
	s.addRange("input_tokens", q.Input)
	s.addRange("output_tokens", q.Output)
	s.addRange("cost_nano", q.Cost)
	s.metadata(q.Metadata)
	s.weighted(q)
	return s
}

// is requires that a column has a value; an empty value adds nothing.
func (s *selection) is(column, value string) {
	if value != "" {
		s.add(column + " = " + s.Text(value))
	}
}

// addIn requires that a column has one of the values; an empty list adds nothing.
func (s *selection) addIn(column string, values []string) {
	if len(values) > 0 {
		s.add(column + " IN " + s.Texts(values))
	}
}

// pairs requires that the model is one of those at its provider.
func (s *selection) pairs(pairs []record.Pair) {
	var anyOf []string
	for _, p := range pairs {
		anyOf = append(anyOf, "provider = "+s.Text(p.Provider)+" AND model = "+s.Text(p.Model))
	}
	s.any(anyOf)
}

func (s *selection) statuses(ranges []record.StatusRange) {
	var anyOf []string
	for _, r := range ranges {
		anyOf = append(anyOf, "status BETWEEN "+s.Int(int64(r.Min))+" AND "+s.Int(int64(r.Max)))
	}
	s.any(anyOf)
}

// any requires that one of the conditions holds; an empty list adds nothing.
func (s *selection) any(conditions []string) {
	if len(conditions) > 0 {
		s.add("(" + strings.Join(conditions, " OR ") + ")")
	}
}

// metadata requires all pairs.
func (s *selection) metadata(pairs map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		k := s.Text(key)
		s.add("mapContains(metadata, " + k + ") AND metadata[" + k + "] = " + s.Text(pairs[key]))
	}
}

// tokens is the SQL of record.Attempt.Tokens. The sum of two numbers of the widest type needs a
// wider one.
const tokens = "greatest(toInt128(total_tokens), toInt128(input_tokens) + toInt128(output_tokens))"

// addRange requires that a number is in a range; NULL is in none.
func (s *selection) addRange(number string, r record.Range) {
	if r.Min != nil {
		s.add(number + " >= " + s.Int(*r.Min))
	}
	if r.Max != nil {
		s.add(number + " <= " + s.Int(*r.Max))
	}
}

// weighted requires that the average feedback on the trace is in a range.
func (s *selection) weighted(q record.Query) {
	if q.Weighted.Open() {
		return
	}
	var average []string
	if q.Weighted.Min != nil {
		average = append(average, "avg(value * weight) >= "+s.Float(*q.Weighted.Min))
	}
	if q.Weighted.Max != nil {
		average = append(average, "avg(value * weight) <= "+s.Float(*q.Weighted.Max))
	}
	s.add("(workspace_id, trace_id) IN (SELECT workspace_id, trace_id FROM feedback FINAL WHERE org_id = " + s.Text(q.OrgID) +
		" AND NOT gone GROUP BY workspace_id, trace_id HAVING " + strings.Join(average, " AND ") + ")")
}

// committedSQL selects rows of batches that have ended: all rows that arrive later are after them
// in the order of arrival. A batch that a dead node left open delays the others for a minute.
const committedSQL = "arrived < (SELECT ifNull(minOrNullIf(since, open AND since > now64(6, 'UTC') - INTERVAL 1 MINUTE), now64(6, 'UTC')) FROM progress FINAL)"

// after adds the position of the cursor.
func (s *selection) after(q record.Query) error {
	if q.After == "" {
		return nil
	}
	started, id, err := q.After.Split()
	if err != nil {
		return err
	}
	t := s.Time(started)
	switch {
	case q.ByArrival:
		s.add("arrived >= " + t + " AND (arrived > " + t + " OR id > " + s.Text(id) + ")")
	case q.Newest:
		s.add("started <= " + t + " AND (started < " + t + " OR id < " + s.Text(id) + ")")
	default:
		s.add("started >= " + t + " AND (started > " + t + " OR id > " + s.Text(id) + ")")
	}
	return nil
}
