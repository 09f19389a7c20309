package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

const (
	// reopenPause is the time between two attempts to reopen: each reads the log of the database
	// again, and callers may arrive at any rate.
	reopenPause = time.Second
	// idleReaders is the number of idle reading connections in the pool.
	idleReaders = 2
)

// writerState is the writer's state of the database. Callers hold DB.mu.
type writerState struct {
	series *seriesIndex
	slots  *slotIndex
	trail  int64 // number of the last correction
	// arrived is the time of the last Write, the latest arrival that a row can have.
	arrived time.Time
}

// load reads the writer's state.
func load(ctx context.Context, db *sql.DB) (k writerState, err error) {
	if k.series, err = loadSeries(ctx, db); err != nil {
		return k, err
	}
	if k.slots, err = loadSlots(ctx, db); err != nil {
		return k, err
	}
	if err := db.QueryRowContext(ctx, "SELECT coalesce(max(number), 0) FROM corrections").Scan(&k.trail); err != nil {
		return k, fmt.Errorf("read corrections of the log database: %w", err)
	}
	var arrived sql.NullTime
	if err := db.QueryRowContext(ctx, "SELECT max(arrived) FROM attempts").Scan(&arrived); err != nil {
		return k, fmt.Errorf("read arrival times of log rows: %w", err)
	}
	k.arrived = arrived.Time.UTC()
	return k, nil
}

// open opens the file, updates its tables and reads the writer's state. Only then can others
// connect.
func (d *database) open(ctx context.Context) error {
	c, err := d.connect()
	if err != nil {
		return fmt.Errorf("open log database %s: %w", d.o.Path, err)
	}
	k, l, err := d.prepare(ctx, c)
	if err != nil {
		if l != nil {
			l.close()
		}
		return errors.Join(fmt.Errorf("open log database %s: %w", d.o.Path, err), c.Close())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.link, d.writerState = l, k
	d.base.begin(c)
	return nil
}

// prepare leaves the connector open; of its connections only the writer's remains.
func (d *database) prepare(ctx context.Context, c *duckdb.Connector) (k writerState, l *link, err error) {
	db := sql.OpenDB(struct{ driver.Connector }{c}) // hides the connector's Close
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := migrate(ctx, db); err != nil {
		return k, nil, err
	}
	if k, err = load(ctx, db); err != nil {
		return k, nil, err
	}
	l, err = openLink(d.o)
	return k, l, err
}

// close ends what is in progress on the database and closes it: first the connections, then the
// file. The caller holds opening and has rejected further use. A goroutine with a connection may
// wait for mu, so mu is not held meanwhile.
func (d *database) close() error {
	d.sql.SetMaxIdleConns(0)
	d.base.wait()
	d.sql.SetMaxIdleConns(idleReaders)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.link != nil {
		// Closing a file also checkpoints, but with memory that other threads do not share.
		if err := d.link.exec("CHECKPOINT"); err != nil {
			d.log.Debug("log database closed with unmerged WAL entries; they are read at the next start", "error", err.Error())
		}
		d.link.close()
		d.link = nil
	}
	return d.base.end()
}

// reopen opens a database again that is unusable after a fatal error: a checkpoint without disk
// space. It returns why the database is unavailable, or nil. It does not wait while another
// goroutine reopens it. All users of the database call it, without a lock: the writer until it
// has stored what waits, and the builder of rollups.
func (d *database) reopen(ctx context.Context) error {
	why := d.base.err()
	if why == nil || errors.Is(why, errClosed) || !d.opening.TryLock() {
		return why
	}
	defer d.opening.Unlock()
	if why = d.base.err(); why == nil || errors.Is(why, errClosed) || time.Since(d.reopened) < reopenPause {
		return why
	}
	if err := d.checkDiskSpace(); err != nil {
		return unavailableError(fmt.Errorf("%w, after: %w", err, errors.Unwrap(why)))
	}
	defer func() { d.reopened = time.Now() }()
	// A started reopening is completed, because others need it too.
	if err := errors.Join(d.close(), d.open(context.WithoutCancel(ctx))); err != nil {
		return unavailableError(err)
	}
	d.log.Warn("log database reopened", "after", why)
	return nil
}
