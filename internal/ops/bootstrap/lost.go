package bootstrap

import (
	"context"
	"fmt"

	"sluice/internal/control/resource"
)

// LostDatabase recognises a SQLite database that is missing or empty although the data directory
// contains the journal of a deployment. A first start would make all existing keys invalid, and
// the rest of the journal would not be charged to any budget. The zero value accepts every
// database: an empty database on a server is accepted, because that is how a laptop's gateway
// moves to a server.
type LostDatabase struct {
	Path       string                         // of the database: "data/sluice.db"
	JournalDir string                         // "data/journal"
	HasJournal func(dir string) (bool, error) // reports whether a directory contains a journal; nil accepts every database
}

// Check fails if the database is lost. db is nil for a database without tables.
func (l LostDatabase) Check(ctx context.Context, db resource.Store) error {
	if l.HasJournal == nil {
		return nil
	}
	exists, err := l.HasJournal(l.JournalDir)
	if err != nil || !exists {
		return err
	}
	if db != nil {
		if is, err := Exists(ctx, db); err != nil || is {
			return err
		}
	}
	return fmt.Errorf("the database %s is empty, but the journal in %s belongs to a gateway with a database; restore the database from a backup, "+
		"or set DB_TYPE and DB_HOST if it is on a server; to start without it, set DATA_DIR to an empty directory", l.Path, l.JournalDir)
}
