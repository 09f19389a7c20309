package store_test

import (
	"errors"
	"log/slog"
	"testing"

	"sluice/internal/resource"
	"sluice/internal/store"
	"sluice/internal/store/storetest"
)

// engines are the databases that the suite runs on.
var engines = map[string]func(testing.TB) store.Settings{
	store.SQLite:   storetest.SQLite,
	store.Postgres: storetest.Postgres,
	store.MySQL:    storetest.MySQL,
}

// onEngines runs a test on each database that there is.
func onEngines(t *testing.T, test func(t *testing.T, settings store.Settings)) {
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
			storetest.Run(t, func(t *testing.T) *store.Store { return storetest.Open(t, settings(t)) })
		})
	}
}

func TestMigrations(t *testing.T) {
	onEngines(t, storetest.Migrations)
}

// A database that nobody has migrated is told from one that fails.
func TestNoTables(t *testing.T) {
	onEngines(t, func(t *testing.T, settings store.Settings) {
		s, err := store.Open(t.Context(), settings, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.List(t.Context(), resource.Query{Kind: "k"}); !errors.Is(err, store.ErrNoTables) {
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
