package target

import (
	"context"
	"path/filepath"
	"strconv"

	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// Database is where a Deployment keeps its control plane.
type Database struct {
	server sqlstore.Settings // the zero value: SQLite, in the data directory
	drop   func() error
}

// SQLite is a file in the data directory.
func SQLite() *Database { return &Database{drop: func() error { return nil }} }

// Postgres makes a database on the server that SLUICE_TEST_POSTGRES names, else on the
// one of this machine.
func Postgres(ctx context.Context) (*Database, error) {
	set, drop, err := storetest.NewPostgres(ctx)
	return &Database{set, drop}, err
}

// Drop removes it, whoever is still connected; a file goes with its directory.
func (d *Database) Drop() error { return d.drop() }

// finishImport ends an import: a server would come to it by itself, but maybe in the middle of
// a round.
func (d *Database) finishImport(ctx context.Context) error {
	if d.server.Engine == "" {
		return nil
	}
	return storetest.Vacuum(ctx, d.server)
}

// settings lead to the database from here.
func (d *Database) settings(dataDir string) sqlstore.Settings {
	if d.server.Engine == "" {
		return sqlstore.Settings{Engine: sqlstore.SQLite, Path: filepath.Join(dataDir, "sluice.db")}
	}
	return d.server
}

// Env are the settings that lead the program to it.
func (d *Database) Env() []string {
	if d.server.Engine == "" {
		return nil
	}
	w := d.server.Writer
	return []string{
		"DB_TYPE=" + sqlstore.Postgres, "DB_HOST=" + w.Host, "DB_PORT=" + strconv.Itoa(w.Port), "DB_USER=" + w.User,
		"DB_PASS=" + w.Pass.Reveal(), "DB_NAME=" + w.Name,
	}
}
