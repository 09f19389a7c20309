package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/credential"
	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/bootstrap"
	"sluice/internal/ops/hint"
	"sluice/internal/storage/sqlstore"
)

// Deployment is the access of several checks to the database and the sealed values of a
// deployment. Database and Sealing open it for the checks after them.
type Deployment struct {
	Database sqlstore.Settings
	Dir      string   // the data directory
	Keys     [][]byte // of ENCRYPTION_KEY; none for the key file
	Lost     bootstrap.LostDatabase

	db    *sqlstore.Store // nil when it cannot be read
	box   *sealed.Sealer  // nil when sealed values cannot be opened
	fresh bool            // the database is empty because the gateway has never started
}

// Close closes the database if it is open.
func (d *Deployment) Close() error {
	if d.db == nil {
		return nil
	}
	return d.db.Close()
}

// Database checks that the database can be used by a gateway of this version. Later checks use the
// connection that it opens.
type Database struct{ Deployment *Deployment }

// Run implements Check.
func (c Database) Run(ctx context.Context) []Finding {
	return []Finding{c.Deployment.checkDatabase(ctx)}
}

// connectTimeout is how long the checks of the database may take.
const connectTimeout = 15 * time.Second

func (d *Deployment) checkDatabase(ctx context.Context) Finding {
	set := d.Database
	f := Finding{Subject: "database", Hint: hint.Database(set, nil)}
	if set.Engine == sqlstore.SQLite {
		if _, err := os.Stat(set.Path); errors.Is(err, fs.ErrNotExist) {
			d.fresh, f.Detail = true, "the file will be created on the first start: "+set.Path
			f.Err, f.Hint = d.Lost.Check(ctx, nil), ""
			return f
		}
	}
	ctx, stop := context.WithTimeout(ctx, connectTimeout)
	defer stop()
	db, err := sqlstore.Open(ctx, set, slog.New(slog.DiscardHandler)) // the finding reports what the store would log
	if err != nil {
		f.Err, f.Hint = hint.DatabaseError(set, err), hint.Database(set, err)
		return f
	}
	if err = db.CheckVersion(ctx); err == nil {
		err = db.CheckRights(ctx)
	}
	if err == nil {
		_, err = db.Count(ctx, resource.Query{Kind: credential.IntegrationKind})
	}
	if d.fresh = errors.Is(err, sqlstore.ErrNoTables) && !d.tablesOnlyAtWriter(ctx, db); err != nil && !d.fresh {
		f.Err, f.Hint = errors.Join(hint.DatabaseError(set, err), db.Close()), hint.Database(set, err)
		return f
	}
	d.db = db
	if h := db.Health(); h.Status != "ok" {
		f.Err = hint.DatabaseError(set, fmt.Errorf("%s: %s", h.Status, h.Detail))
	} else if err := d.checkLost(ctx); err != nil {
		f.Err, f.Hint = err, ""
	}
	f.Detail = set.Engine + " responds"
	if d.fresh {
		f.Detail += "; its tables will be created on the first start"
	}
	return f
}

// tablesOnlyAtWriter reports whether the tables that the reader lacks exist at the writer. It is
// false without a reader.
func (d *Deployment) tablesOnlyAtWriter(ctx context.Context, db *sqlstore.Store) bool {
	if d.Database.Reader.Host == "" {
		return false
	}
	_, err := db.LeaseHolder(ctx, "any")
	return err == nil
}

// checkLost fails if the database is empty although it must not be.
func (d *Deployment) checkLost(ctx context.Context) error {
	if d.fresh {
		return d.Lost.Check(ctx, nil)
	}
	return d.Lost.Check(ctx, d.db)
}
