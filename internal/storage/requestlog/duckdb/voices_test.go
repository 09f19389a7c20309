package duckdb_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog/duckdb"
	"sluice/internal/storage/requestlog/requestlogtest"
)

// A database from before judged rows carried what is said of them answers as its rows do, until
// they do and from then on.
func TestFeedbackOfAnOlderDatabase(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	path, roll := filepath.Join(t.TempDir(), "logs.duckdb"), rolled(t)
	openAndClose(t, path, func(db *duckdb.DB) {
		var rows []*record.Attempt
		for n := range 600 {
			rows = append(rows, monthRow(random, n))
		}
		requestlogtest.Put(t, db, rows...)
		addFeedback(t, db, rows[:200])
		roll(db)
	})
	old := raw(t, path)
	makeOlder(t, old,
		"CREATE TABLE judged_traces AS SELECT DISTINCT trace_id FROM heard", "DROP TABLE late_hooks", "DELETE FROM migrations WHERE version > 9",
		"CREATE TABLE plain AS SELECT started, series, trace_id, status, retries, bytes_in, metadata, extra, end_user, prompt_slug FROM heard WHERE lead",
		"DROP TABLE heard", "ALTER TABLE plain RENAME TO heard")
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	var questions []record.Analysis
	for _, a := range monthQuestions() {
		if a.Metrics&record.MetricFeedback != 0 || !a.Query.Weighted.Open() {
			questions = append(questions, a)
		}
	}
	random.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
	answersStay(t, path, questions[:40])
	var judged, alone, waiting int
	err := raw(t, path).QueryRow("SELECT count(*) FILTER (lead), count(*) FILTER (lead AND alone), (SELECT count(*) FROM pending_traces) FROM heard").Scan(&judged, &alone, &waiting)
	if err != nil || waiting != 0 || alone == 0 || alone >= judged {
		t.Errorf("%d judged rows, %d of them alone in their trace, %d traces wait, %v; want some of both and none that waits", judged, alone, waiting, err)
	}
}
