package app

import (
	"context"
	"fmt"
	"path/filepath"

	"sluice/internal/config"
	"sluice/internal/journal"
	"sluice/internal/resource"
)

// missesDatabase fails where the data directory has the journal of a deployment and no
// database any more beside it: a first start would have every key refused that there was, and
// what the journal still holds would count for nobody. A database without tables is nil. One
// on a server that is empty is no loss: a laptop's gateway is moved to a server so.
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

// journalDir is where the journal of a gateway lies.
func journalDir(s config.Settings) string { return filepath.Join(s.Data.Dir, "journal") }
