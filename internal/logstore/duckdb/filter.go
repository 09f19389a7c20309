package duckdb

import (
	"strings"

	"sluice/internal/record"
)

// where collects the conditions of a statement, joined by AND.
type where struct {
	conditions []string
	args       []any
}

func (w *where) add(condition string, args ...any) {
	w.conditions = append(w.conditions, condition)
	w.args = append(w.args, args...)
}

// in adds that a column has one of the values; nothing when there are none.
func (w *where) in(column string, values []string) {
	if len(values) == 0 {
		return
	}
	w.conditions = append(w.conditions, column+" IN ("+marks(len(values))+")")
	for _, v := range values {
		w.args = append(w.args, v)
	}
}

// sql is the clause, with a leading blank.
func (w *where) sql() string { return " WHERE " + strings.Join(w.conditions, " AND ") }

// marks is "?, ?, ?".
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// filter translates a query, but for its cursor, to conditions on attempts. Those
// on texts select series first, of which there are few.
func filter(q record.Query) *where {
	var s, w where
	s.add("org_id = ?", q.OrgID)
	if q.WorkspaceID != "" {
		s.add("workspace_id = ?", q.WorkspaceID)
	}
	if q.UserID != "" {
		s.add("user_id = ?", q.UserID)
	}
	s.in("model", q.Models)
	s.in("provider", q.Providers)
	s.in("key_id", q.KeyIDs)
	s.in("config_id", q.Configs)
	s.in("provider_id", q.ProviderIDs)
	w.add("series IN (SELECT id FROM series"+s.sql()+")", s.args...)
	if q.TraceID != "" {
		w.add("trace_id = ?", keyParam(q.TraceID))
	}
	if q.RequestID != "" {
		w.add("request_id = ?", keyParam(q.RequestID))
	}
	if !q.From.IsZero() {
		w.add("started >= ?", q.From.UTC())
	}
	if !q.To.IsZero() {
		w.add("started < ?", q.To.UTC())
	}
	w.statuses(q.Statuses)
	w.within("greatest(total_tokens, input_tokens + output_tokens)", q.Total)
	w.within("input_tokens", q.Input)
	w.within("output_tokens", q.Output)
	return &w
}

// within adds that a number is in a range.
func (w *where) within(number string, r record.Range) {
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
	if q.Newest {
		w.add("started <= ? AND (started < ? OR id < ?)", started, started, key)
	} else {
		w.add("started >= ? AND (started > ? OR id > ?)", started, started, key)
	}
	return nil
}
