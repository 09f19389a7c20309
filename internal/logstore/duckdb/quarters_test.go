package duckdb_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"sluice/internal/logstore/duckdb"
	"sluice/internal/logstore/logstoretest"
)

// A database from before quarters of a day keeps its sums, gets those of quarters, and answers
// as its rows do.
func TestQuartersOfAnOlderDatabase(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	path, late := filepath.Join(t.TempDir(), "logs.duckdb"), month.Add(60*24*time.Hour)
	roll := func(db *duckdb.DB) {
		if err := db.Roll(t.Context(), late); err != nil {
			t.Fatal(err)
		}
	}
	openAndClose(t, path, func(db *duckdb.DB) {
		for n := range 300 {
			logstoretest.Put(t, db, monthRow(random, n))
		}
		roll(db)
	})
	old := raw(t, path)
	var before, days, quarters int
	for _, statement := range []string{
		"DELETE FROM slots WHERE level = 2", "UPDATE slots SET level = level - 1 WHERE level > 2", "DELETE FROM migrations WHERE version > 7",
		"DROP TABLE sums_quarters", "DROP TABLE bins_quarters", "DROP TABLE facets_quarters", "DROP TABLE pairs_quarters",
		"ALTER TABLE pairs_days ADD COLUMN whole BOOLEAN DEFAULT false", "ALTER TABLE pairs_weeks ADD COLUMN whole BOOLEAN DEFAULT false",
		"INSERT INTO pairs_days BY NAME SELECT * REPLACE ('' AS workspace_id, true AS whole) FROM pairs_days",
	} {
		if _, err := old.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := old.QueryRow("SELECT count(*) FROM slots WHERE level = 2").Scan(&before); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	questions := monthQuestions()
	random.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
	questions = questions[:30]
	want := ask(t, path, true, questions)
	compareAnswers(t, "as it was", questions, want, ask(t, path, false, questions))
	openAndClose(t, path, roll)
	compareAnswers(t, "with quarters", questions, want, ask(t, path, false, questions))
	err := raw(t, path).QueryRow("SELECT count(*) FILTER (level = 2), count(*) FILTER (level = 3) FROM slots").Scan(&quarters, &days)
	if err != nil || before != 17 || days != 17 || quarters < days {
		t.Errorf("%d quarters in %d days, %v; want more in 17", quarters, days, err)
	}
}
