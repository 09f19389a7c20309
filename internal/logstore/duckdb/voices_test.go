package duckdb_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"sluice/internal/logstore/duckdb"
	"sluice/internal/logstore/logstoretest"
	"sluice/internal/record"
)

// A database from before judged rows carried what is said of them answers as its rows do, until
// they do and from then on.
func TestFeedbackOfAnOlderDatabase(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	path := filepath.Join(t.TempDir(), "logs.duckdb")
	roll := func(db *duckdb.DB) {
		if err := db.Roll(t.Context(), month.Add(60*24*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	openAndClose(t, path, func(db *duckdb.DB) {
		var rows []*record.Attempt
		for n := range 600 {
			rows = append(rows, monthRow(random, n))
		}
		logstoretest.Put(t, db, rows...)
		hear(t, db, rows[:200])
		roll(db)
	})
	old := raw(t, path)
	for _, statement := range []string{
		"CREATE TABLE judged_traces AS SELECT DISTINCT trace_id FROM heard", "DELETE FROM migrations WHERE version > 9",
		"CREATE TABLE plain AS SELECT started, series, trace_id, status, retries, bytes_in, metadata, extra, end_user, prompt_slug FROM heard WHERE lead",
		"DROP TABLE heard", "ALTER TABLE plain RENAME TO heard",
	} {
		if _, err := old.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	var questions []record.Analysis
	for _, a := range monthQuestions() {
		if a.Want&record.WantFeedback != 0 || !a.Query.Weighted.Open() {
			questions = append(questions, a)
		}
	}
	random.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
	questions = questions[:40]
	want := ask(t, path, true, questions)
	compareAnswers(t, "as it was", questions, want, ask(t, path, false, questions))
	openAndClose(t, path, roll)
	compareAnswers(t, "with what is said", questions, want, ask(t, path, false, questions))
	var judged, alone, waiting int
	err := raw(t, path).QueryRow("SELECT count(*) FILTER (lead), count(*) FILTER (lead AND alone), (SELECT count(*) FROM pending_traces) FROM heard").Scan(&judged, &alone, &waiting)
	if err != nil || waiting != 0 || alone == 0 || alone >= judged {
		t.Errorf("%d judged rows, %d of them alone in their trace, %d traces wait, %v; want some of both and none that waits", judged, alone, waiting, err)
	}
}
