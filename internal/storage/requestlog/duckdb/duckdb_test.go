package duckdb_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/duckdb"
	"sluice/internal/storage/requestlog/requestlogtest"
)

func open(t testing.TB, path string) *duckdb.DB {
	t.Helper()
	db, err := duckdb.Open(t.Context(), duckdb.Options{Path: path, MemoryMB: 128, Threads: 1, ExactBelow: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestSuite(t *testing.T) {
	t.Parallel()
	requestlogtest.Run(t, func(t testing.TB) requestlog.RowStore { return open(t, filepath.Join(t.TempDir(), "logs.duckdb")) })
}

// raw opens a database that no DB has open, to look into it.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func openAndClose(t *testing.T, path string, use func(*duckdb.DB)) {
	t.Helper()
	db, err := duckdb.Open(t.Context(), duckdb.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	use(db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// What attempts have in common is stored once, over restarts too.
func TestSeriesAreStoredOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "logs.duckdb")
	for run := range 3 {
		openAndClose(t, path, func(db *duckdb.DB) {
			other := recordtest.Chat(100 + run)
			other.Model = "gpt-4o"
			requestlogtest.Put(t, db, recordtest.Chat(2*run), recordtest.Chat(2*run+1), other)
		})
	}
	var attempts, series int
	err := raw(t, path).QueryRow("SELECT (SELECT count(*) FROM attempts), (SELECT count(*) FROM series)").Scan(&attempts, &series)
	if err != nil || attempts != 9 || series != 2 {
		t.Errorf("%d attempts in %d series, %v; want 9 in 2", attempts, series, err)
	}
}

func TestDatabaseOfANewerProgramIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "logs.duckdb")
	openAndClose(t, path, func(*duckdb.DB) {})
	db := raw(t, path)
	if _, err := db.Exec("INSERT INTO migrations VALUES (999, now())"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := duckdb.Open(t.Context(), duckdb.Options{Path: path})
	if err == nil || !strings.Contains(err.Error(), "version 999") {
		t.Errorf("got %v, want a refusal that names the version", err)
	}
	if again != nil {
		t.Error("a database came with the refusal")
	}
}

func TestClosedDatabaseTakesNothing(t *testing.T) {
	t.Parallel()
	db, err := duckdb.Open(t.Context(), duckdb.Options{Path: filepath.Join(t.TempDir(), "logs.duckdb")})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), func(requestlog.Sink) (requestlog.Progress, error) { return requestlog.Progress{}, nil })
	if err == nil {
		t.Error("written after Close")
	}
	if _, err := db.List(t.Context(), record.Query{OrgID: recordtest.Org}); err == nil {
		t.Error("read after Close")
	}
}

func TestCancelledWriteStoresNothing(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "logs.duckdb"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := db.Write(ctx, func(to requestlog.Sink) (requestlog.Progress, error) {
		return requestlog.Progress{}, to.Add(recordtest.Chat(1), bodies.Ref{})
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
	requestlogtest.Put(t, db, recordtest.Chat(2))
	page, err := db.List(t.Context(), record.Query{OrgID: recordtest.Org})
	if err != nil || len(page.Rows) != 1 {
		t.Errorf("%d rows, %v; want the one written later", len(page.Rows), err)
	}
}

// Readers see whole transactions while rows are written and deleted.
func TestReadersBesideTheWriter(t *testing.T) {
	t.Parallel()
	const batch = 50
	db := open(t, filepath.Join(t.TempDir(), "logs.duckdb"))
	done := make(chan struct{})
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				page, err := db.List(t.Context(), record.Query{OrgID: recordtest.Org, Limit: record.MaxLimit})
				if err != nil || len(page.Rows)%batch != 0 {
					t.Errorf("%d rows, %v; want whole batches", len(page.Rows), err)
					return
				}
				for i := range page.Rows {
					if page.Rows[i].Model == "" {
						t.Error("a row without its series")
						return
					}
				}
			}
		})
	}
	for i := range 20 {
		var attempts []*record.Attempt
		for n := i * batch; n < (i+1)*batch; n++ {
			a := recordtest.Chat(n)
			a.KeyName = strings.Repeat("k", i) // each batch has a series of its own
			attempts = append(attempts, a)
		}
		requestlogtest.Put(t, db, attempts...)
		if i%5 == 4 {
			if _, err := db.Delete(t.Context(), requestlog.RetentionCutoffs{Before: recordtest.Chat((i - 1) * batch).Started}); err != nil {
				t.Error(err)
			}
		}
	}
	close(done)
	group.Wait()
}

func tablesOf(t *testing.T, db *sql.DB) []string {
	t.Helper()
	var names string
	if err := db.QueryRow("SELECT string_agg(table_name, ' ') FROM duckdb_tables()").Scan(&names); err != nil {
		t.Fatal(err)
	}
	return strings.Fields(names)
}

// revertSchema makes a database one that saw only the first migration, and does what else it
// is told.
func revertSchema(t *testing.T, path string, more ...string) {
	t.Helper()
	old := raw(t, path)
	var statements []string
	for _, column := range strings.Fields("cost_nano saved_nano bound_nano spend_state unpriced price_version cost_terms bill_basis charged_at charged_nano charged end_user span_id prompt_slug arrived") {
		statements = append(statements, "ALTER TABLE attempts DROP COLUMN "+column)
	}
	for _, table := range tablesOf(t, old) {
		if !slices.Contains([]string{"migrations", "series", "attempts", "progress"}, table) {
			statements = append(statements, "DROP TABLE "+table)
		}
	}
	statements = append(statements, "DELETE FROM migrations WHERE version > 1")
	for _, s := range append(statements, more...) {
		if _, err := old.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
}

// What analytics need of rows is found in those of before, too.
func TestOldRowsAreAnalysed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "logs.duckdb")
	openAndClose(t, path, func(db *duckdb.DB) {
		odd, none := recordtest.Chat(2), recordtest.Chat(3)
		odd.Metadata[record.UserKey] = "\"J\u00f6rg\"\x00\n"
		none.Metadata = nil
		requestlogtest.Put(t, db, recordtest.Chat(1), odd, none)
	})
	revertSchema(t, path, `UPDATE attempts SET extra = '{"span_id":"s-1","prompt_slug":"pp-a","tier":"flex"}' WHERE metadata = ''`)
	db := open(t, path)
	a, _, err := db.Find(t.Context(), recordtest.Org, "", recordtest.Chat(3).ID)
	if err != nil || a.SpanID != "s-1" || a.PromptSlug != "pp-a" || a.Usage.Tier != "flex" {
		t.Errorf("span %q, prompt %q, tier %q, %v", a.SpanID, a.PromptSlug, a.Usage.Tier, err)
	}
	for by, want := range map[record.Dimension][]string{record.ByUser: {"\"J\u00f6rg\"\x00\n", "alice@example.com"}, record.ByPrompt: {"pp-a"}} {
		page, err := db.Analyse(t.Context(), record.Analysis{Query: record.Query{OrgID: recordtest.Org, From: recordtest.Epoch, To: recordtest.Epoch.Add(time.Hour)}, By: by})
		var got []string
		for _, row := range page.Rows {
			got = append(got, row.Value)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", by, got, err, want)
		}
	}
}

// Rows from before costs were kept are read, and nobody takes them for free calls.
func TestRowsWithoutCost(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "logs.duckdb")
	openAndClose(t, path, func(db *duckdb.DB) { requestlogtest.Put(t, db, recordtest.Chat(1)) })
	revertSchema(t, path)
	db := open(t, path)
	priced := recordtest.Chat(2)
	priced.Spend = record.Spend{State: "settled", Cost: 42}
	requestlogtest.Put(t, db, priced)
	for n, want := range map[int]int64{1: -1, 2: 42} {
		a, _, err := db.Find(t.Context(), recordtest.Org, "", recordtest.Chat(n).ID)
		if err != nil {
			t.Fatal(err)
		}
		if nano, known := a.Cost(); known != (want >= 0) || known && nano != want {
			t.Errorf("chat %d cost %d, known: %v; want %d", n, nano, known, want)
		}
	}
}
