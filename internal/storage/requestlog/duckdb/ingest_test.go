package duckdb_test

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/duckdb"
)

var (
	ingest     = flag.Duration("ingest", 0, "how long TestManyRows, after its questions, takes records over while questions are asked; 0 leaves that out")
	ingestRate = flag.Int("ingest-rate", 10_000, "records that come in a second")
)

// ingestTick is how often records come.
const ingestTick = 10 * time.Millisecond

// measureIngest lets records with bodies come at a rate, by way of a journal, while one caller
// asks all questions in turn and sums are worked out, and prints how far the log was behind.
func measureIngest(t *testing.T, db *duckdb.DB) {
	dir := t.TempDir()
	j, err := journal.Open(journal.Options{Dir: filepath.Join(dir, "journal"), MaxBytes: 8 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	files, err := bodies.Open(bodies.Options{Dir: filepath.Join(dir, "bodies")})
	if err != nil {
		t.Fatal(err)
	}
	s := requestlog.New(j.Records(), db, files, requestlog.Options{})
	ctx, stop := context.WithCancel(t.Context())
	var parts sync.WaitGroup
	durations := []float64{}
	parts.Go(func() { _ = db.Run(ctx) })
	parts.Go(func() { _ = s.Run(ctx) })
	parts.Go(func() { durations = askAll(ctx, t, db) })
	before, began := cpu(t), time.Now()
	lags, delay := comeIn(t, j)
	took := time.Since(began)
	stored := s.Stats().Records
	for s.Stats().Records < j.Stats().Appended && s.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	caught := time.Since(began) - took
	used := cpu(t) - before
	stop()
	parts.Wait()
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(lags)
	slices.Sort(durations)
	all := j.Stats().Appended
	fmt.Printf("\n%d records came in %s, %.0f a second, up to %s late; %d of them were in the log at the end, the last %s later.\n",
		all, took.Round(time.Second), float64(all)/took.Seconds(), delay.Round(time.Millisecond), stored, caught.Round(time.Millisecond))
	fmt.Printf("The log was %.0f records behind at the median, %.0f at the 99th percentile, %.0f at most.\n", percentile(lags, 50), percentile(lags, 99), lags[len(lags)-1])
	fmt.Printf("Meanwhile %d questions took %.0f ms at the median, %.0f at the 95th percentile; all of it %.0f µs of processor time for each record.\n",
		len(durations), percentile(durations, 50), percentile(durations, 95), float64(used.Microseconds())/float64(all))
}

// askAll asks one question after the other until ctx ends, and returns how many milliseconds
// each took.
func askAll(ctx context.Context, t *testing.T, db *duckdb.DB) (took []float64) {
	for all := questions(); ; {
		for _, q := range all {
			began := time.Now()
			err := q.ask(ctx, db)
			if ctx.Err() != nil {
				return took
			}
			if err != nil {
				t.Errorf("%s: %v", q.name, err)
			}
			took = append(took, float64(time.Since(began).Microseconds())/1000)
		}
	}
}

// comeIn appends records to the journal at the rate, and returns how far the log was behind at
// each tick, and how late a record was at most because the machine had no time for it.
func comeIn(t *testing.T, j *journal.Journal) (lags []float64, late time.Duration) {
	began, n := time.Now(), 0
	for at := time.Duration(0); at < *ingest; at += ingestTick {
		time.Sleep(time.Until(began.Add(at)))
		late = max(late, time.Since(began.Add(at)))
		for range *ingestRate * int(ingestTick) / int(time.Second) {
			if err := j.Append(arriving(n)); err != nil {
				t.Fatal(err)
			}
			n++
		}
		lags = append(lags, float64(j.Stats().Lag))
	}
	return lags, late
}

// arriving is the n-th record that comes, of the models, keys and users of the rows that are there.
func arriving(n int) *record.Attempt {
	a := recordtest.Chat(n)
	a.Started = time.Now().UTC().Add(-a.Duration)
	a.ID, a.RequestID, a.TraceID = recordtest.ID(a.Started, n), recordtest.ID(a.Started, n+1<<40), recordtest.ID(a.Started, n+1<<41)
	a.OrgID, a.WorkspaceID, a.KeyID, a.Model = tenant, biggest, fmt.Sprintf("key-%d", n%97), fmt.Sprintf("model-%d", n%23)
	a.Metadata = map[string]string{record.UserKey: fmt.Sprintf("user-%d", n%9973), "team": fmt.Sprintf("team-%d", n%30)}
	return a
}
