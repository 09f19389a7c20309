package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A start beside a journal whose database is gone makes no other deployment: it stops, and
// so does every command that would. Doctor says the same.
func TestLostDatabaseIsNotReplaced(t *testing.T) {
	t.Parallel()
	s := freshSettings(t)
	a, _ := opened(t, s)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sluice.db", "sluice.db-wal", "sluice.db-shm"} {
		if err := os.RemoveAll(filepath.Join(s.Data.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	wantParts := []string{filepath.Join(s.Data.Dir, "sluice.db") + " is empty", "restore the database from a backup", "set DATA_DIR to an empty directory"}
	wants(t, findings(t, s)["database"], "FAIL the database", wantParts...)
	for range 2 { // the first one leaves the tables
		_, err := New(t.Context(), s, Options{Log: discard, HasGOGC: true, OnBootstrap: func(FirstKeys) { t.Error("there are new keys") }})
		if err == nil {
			t.Fatal("it started")
		}
		wants(t, err.Error(), "the database", wantParts...)
		wants(t, findings(t, s)["database"], "FAIL the database", wantParts...)
	}
	_, err := CreateKey(t.Context(), s, discard, NewKey{Name: "one", Type: "workspace-service"}, func(FirstKeys) { t.Error("there are new keys") })
	if err == nil || !strings.Contains(err.Error(), wantParts[0]) {
		t.Errorf("keys create: %v", err)
	}
}
