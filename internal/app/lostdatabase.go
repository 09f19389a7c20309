package app

import (
	"context"
	"fmt"
	"path/filepath"

	"sluice/internal/config"
	"sluice/internal/journal"
	"sluice/internal/resource"
)

// missesDatabase fails if the data directory contains a deployment's journal but the SQLite
// database is missing or empty. A first start would make all existing keys invalid, and the rest
// of the journal would not be charged to any budget. db is nil for a database without tables. An
// empty database on a server is accepted, because that is how a laptop's gateway moves to a
// server.
func missesDatabase(ctx context.Context, s config.Settings, db resource.Store) error {
	if s.Database.Type != config.SQLite {
		return nil
	}
	exists, err := journal.Exists(journalDir(s))
	if err != nil || !exists {
		return err
	}
	if db != nil {
		if is, err := founded(ctx, db); err != nil || is {
			return err
		}
	}
	return fmt.Errorf("the database %s is empty, but the journal in %s belongs to a gateway with a database; restore the database from a backup, "+
		"or set DB_TYPE and DB_HOST if it is on a server; to start without it, set DATA_DIR to an empty directory", storeSettings(s).Path, journalDir(s))
}

// journalDir returns the directory of a gateway's journal.
func journalDir(s config.Settings) string { return filepath.Join(s.Data.Dir, "journal") }
