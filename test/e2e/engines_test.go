package e2e

import (
	"testing"

	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// onEachEngine runs a test on SQLite and, where servers are found, on PostgreSQL
// and MariaDB, each with an empty database.
func onEachEngine(t *testing.T, run func(t *testing.T, storage option)) {
	t.Helper()
	for _, e := range []struct {
		name string
		make func(testing.TB) sqlstore.Settings
	}{{"sqlite", storetest.SQLite}, {"postgres", storetest.Postgres}, {"mysql", storetest.MySQL}} {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			run(t, withDatabase(e.make(t)))
		})
	}
}
