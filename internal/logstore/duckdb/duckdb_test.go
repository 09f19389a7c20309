package duckdb_test

import (
	"path/filepath"
	"testing"

	"sluice/internal/logstore"
	"sluice/internal/logstore/duckdb"
	"sluice/internal/logstore/logstoretest"
)

func open(t testing.TB, path string) *duckdb.DB {
	t.Helper()
	db, err := duckdb.Open(t.Context(), duckdb.Options{Path: path, MemoryMB: 128, Threads: 1})
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
	logstoretest.Run(t, func(t testing.TB) logstore.Rows { return open(t, filepath.Join(t.TempDir(), "logs.duckdb")) })
}
