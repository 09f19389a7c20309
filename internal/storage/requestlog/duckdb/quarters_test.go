package duckdb_test

import (
	"database/sql"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog/duckdb"
	"sluice/internal/storage/requestlog/requestlogtest"
)

// A database from before quarters of a day keeps its sums, gets those of quarters, and answers
// as its rows do.
func TestQuartersOfAnOlderDatabase(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	path, roll := filepath.Join(t.TempDir(), "logs.duckdb"), rolled(t)
	openAndClose(t, path, func(db *duckdb.DB) {
		for n := range 300 {
			requestlogtest.Put(t, db, monthRow(random, n))
		}
		roll(db)
	})
	old := raw(t, path)
	var before, days, quarters int
	makeOlder(t, old,
		"DELETE FROM slots WHERE level = 2", "UPDATE slots SET level = level - 1 WHERE level > 2", "DELETE FROM migrations WHERE version > 7", "DROP TABLE late_hooks",
		"DROP TABLE sums_quarters", "DROP TABLE bins_quarters", "DROP TABLE facets_quarters", "DROP TABLE pairs_quarters",
		"ALTER TABLE pairs_days ADD COLUMN whole BOOLEAN DEFAULT false", "ALTER TABLE pairs_weeks ADD COLUMN whole BOOLEAN DEFAULT false",
		"INSERT INTO pairs_days BY NAME SELECT * REPLACE ('' AS workspace_id, true AS whole) FROM pairs_days")
	if err := old.QueryRow("SELECT count(*) FROM slots WHERE level = 2").Scan(&before); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	questions := monthQuestions()
	random.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
	answersStay(t, path, questions[:30])
	err := raw(t, path).QueryRow("SELECT count(*) FILTER (level = 2), count(*) FILTER (level = 3) FROM slots").Scan(&quarters, &days)
	if err != nil || before != 17 || days != 17 || quarters < days {
		t.Errorf("%d quarters in %d days, %v; want more in 17", quarters, days, err)
	}
}

// rolled works out all sums of a database of the month.
func rolled(t *testing.T) func(*duckdb.DB) {
	return func(db *duckdb.DB) {
		t.Helper()
		if err := db.Roll(t.Context(), month.Add(60*24*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
}

// makeOlder makes a database as an earlier version left it.
func makeOlder(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// answersStay asks of an older database, and once more when its sums are up to date: the
// answers are those of its rows.
func answersStay(t *testing.T, path string, questions []record.Analysis) {
	t.Helper()
	want := ask(t, path, true, questions)
	compareAnswers(t, "as it was", questions, want, ask(t, path, false, questions))
	openAndClose(t, path, rolled(t))
	compareAnswers(t, "up to date", questions, want, ask(t, path, false, questions))
}
