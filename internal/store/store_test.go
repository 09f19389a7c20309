package store_test

import (
	"testing"

	"sluice/internal/store"
	"sluice/internal/store/storetest"
)

// engines are the databases that the suite runs on.
var engines = map[string]func(testing.TB) store.Settings{
	store.SQLite:   storetest.SQLite,
	store.Postgres: storetest.Postgres,
	store.MySQL:    storetest.MySQL,
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
	t.Parallel()
	for name, settings := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Migrations(t, settings(t))
		})
	}
}

func TestLeftLease(t *testing.T) {
	t.Parallel()
	for name, settings := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.LeftLease(t, settings(t))
		})
	}
}

func TestAudits(t *testing.T) {
	t.Parallel()
	for name, settings := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Audits(t, settings(t))
		})
	}
}
