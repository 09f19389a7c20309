package duckdb_test

import (
	"path/filepath"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog/duckdb"
	"sluice/internal/storage/requestlog/requestlogtest"
)

// rollupTables are those that hold what rows add up to.
var rollupTables = []string{
	"sums_hours", "sums_quarters", "sums_days", "sums_weeks", "bins_hours", "bins_quarters", "bins_days", "bins_weeks",
	"facets_quarters", "facets_days", "facets_weeks", "pairs_quarters", "pairs_days", "pairs_weeks", "slots",
}

// The rows that measurements are made with are as if they had come by way of the journal:
// written again as attempts they add up to the same in every table.
func TestGeneratedRowsAreThoseOfIngest(t *testing.T) {
	t.Parallel()
	generated, written := filepath.Join(t.TempDir(), "generated.duckdb"), filepath.Join(t.TempDir(), "written.duckdb")
	if err := generate(t.Context(), generated, 4000); err != nil {
		t.Fatal(err)
	}
	var rows []*record.Attempt
	openAndClose(t, generated, func(db *duckdb.DB) {
		q := record.Query{OrgID: tenant, Limit: record.MaxLimit}
		for more := true; more; more = q.After != "" {
			page, err := db.List(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for i := range page.Rows {
				rows = append(rows, &page.Rows[i])
			}
			q.After = page.Next
		}
		if err := db.Roll(t.Context(), first.Add(2*span)); err != nil {
			t.Fatal(err)
		}
	})
	openAndClose(t, written, func(db *duckdb.DB) {
		requestlogtest.Put(t, db, rows...)
		if err := db.Roll(t.Context(), first.Add(2*span)); err != nil {
			t.Fatal(err)
		}
	})
	both := raw(t, generated)
	if _, err := both.Exec("ATTACH '" + written + "' AS written"); err != nil {
		t.Fatal(err)
	}
	for _, table := range rollupTables {
		var all, unlike int
		columns := "*"
		if table == "slots" {
			columns = "level, start, rows" // generated traces have feedback
		}
		actual, other := "SELECT "+columns+" FROM "+table, "SELECT "+columns+" FROM written."+table
		if err := both.QueryRow("SELECT (SELECT count(*) FROM "+table+"), (SELECT count(*) FROM (("+actual+" EXCEPT ALL "+other+") UNION ALL ("+other+" EXCEPT ALL "+actual+")))").Scan(&all, &unlike); err != nil {
			t.Fatal(err)
		}
		if all == 0 || unlike > 0 {
			t.Errorf("%s: %d sums, of which %d differ", table, all, unlike)
		}
	}
}
