package sqlstore_test

import (
	"errors"
	"log/slog"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// engines are the databases that the suite runs on.
var engines = map[string]func(testing.TB) sqlstore.Settings{
	sqlstore.SQLite:   storetest.SQLite,
	sqlstore.Postgres: storetest.Postgres,
	sqlstore.MySQL:    storetest.MySQL,
}

// onEngines runs a test on each database that there is.
func onEngines(t *testing.T, test func(t *testing.T, settings sqlstore.Settings)) {
	t.Parallel()
	for name, settings := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, settings(t))
		})
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	for name, settings := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T) *sqlstore.Store { return storetest.Open(t, settings(t)) })
		})
	}
}

func TestMigrations(t *testing.T) {
	onEngines(t, storetest.Migrations)
}

// A database that nobody has migrated is told from one that fails.
func TestNoTables(t *testing.T) {
	onEngines(t, func(t *testing.T, settings sqlstore.Settings) {
		s, err := sqlstore.Open(t.Context(), settings, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.List(t.Context(), resource.Query{Kind: "k"}); !errors.Is(err, sqlstore.ErrNoTables) {
			t.Errorf("before: %v", err)
		}
		if err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.List(t.Context(), resource.Query{Kind: "k"}); err != nil {
			t.Errorf("behind: %v", err)
		}
	})
}

func TestNewerTables(t *testing.T) {
	onEngines(t, storetest.NewerTables)
}

func TestLeftLease(t *testing.T) {
	onEngines(t, storetest.LeftLease)
}

func TestAudits(t *testing.T) {
	onEngines(t, storetest.Audits)
}
