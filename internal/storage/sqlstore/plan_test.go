package sqlstore

import (
	"database/sql"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/control/resource"
)

// Lists and counts of the administration go through an index, and what they look for in
// record_index is looked for once, not once for every record.
func TestPlansOfLists(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	statuses := []string{"active", "expired"}
	for name, c := range map[string]struct {
		query resource.Query
		index string // of the count, covering it; empty: any
	}{
		"organisation": {resource.Query{Kind: "k", OrgID: "o", Statuses: statuses}, "COVERING INDEX records_in_org"},
		"workspace":    {resource.Query{Kind: "k", OrgID: "o", WorkspaceID: "w", Statuses: statuses}, "COVERING INDEX records_in_workspace"},
		"entry":        {resource.Query{Kind: "k", OrgID: "o", Index: []resource.IndexEntry{{Name: "n", Value: "v"}}}, ""},
	} {
		count := s.plan(t, count(c.query, "COUNT(*)"))
		list := s.plan(t, page(c.query, 20))
		c.query.Offset = 40
		later := s.plan(t, page(c.query, 20))
		if !strings.Contains(later, c.index) {
			t.Errorf("a later page of %s is found by %s", name, later)
		}
		if !strings.Contains(count, c.index) {
			t.Errorf("%s is counted by %s", name, count)
		}
		for _, plan := range []string{count, list, later} {
			if strings.Contains(plan, "CORRELATED") || strings.Contains(plan, "SCAN r") {
				t.Errorf("%s is found by %s", name, plan)
			}
		}
	}
}

// migrated is a new store on SQLite.
func migrated(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), Settings{Engine: SQLite, Path: filepath.Join(t.TempDir(), "sluice.db")}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// plan is how SQLite would go about a query.
func (s *Store) plan(t *testing.T, query statement) string {
	t.Helper()
	var steps []string
	query.text = "EXPLAIN QUERY PLAN " + query.text
	err := s.ask(t.Context(), query, func(line *sql.Rows) error {
		var id, parent, unused int
		var step string
		err := line.Scan(&id, &parent, &unused, &step)
		steps = append(steps, step)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(steps, "; ")
}
