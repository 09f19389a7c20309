// Package sqlstore stores the records of the control plane in a SQL database: SQLite (the
// default), PostgreSQL, or MySQL and MariaDB. It implements resource.Store and does not
// depend on any kind of record. No other package depends on the engine in use. Start
// reading with Store and Open.
//
// A Store has two handles. Writes go to the writer inside InTx. Reads go to the reader:
// on SQLite a pool next to the single writing connection, on a server the DB_READER_*
// endpoint. What differs between the engines is in one engine value per file (sqlite.go,
// postgres.go, mysql.go).
//
// A few tables exist in addition to the records. One of them holds the responses that
// the gateway stores for callers of providers that do not store any.
//
// Source: spec, Deployment settings; contract/identity-and-governance.md section 15.
package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/uptrace/bun"
	"golang.org/x/sync/semaphore"

	"sluice/internal/control/resource"
)

var _ resource.Store = (*Store)(nil)

// Store is an open database. It is safe for concurrent use and lives until Close. Each group of
// tables has a type of its own. Reads (Find, FindSlug, List, Count, Versions, Links, Changes,
// LastChange) see committed records only and go to the reader.
type Store struct {
	*database
	migrator
	leaseTable
	auditTable
	meterTable
	jobTable
	responseTable
	batchTable
}

// database contains the two handles, transactions, and the tables of records.
type database struct {
	reads
	packers
	writer *bun.DB
	line   *semaphore.Weighted // of writers, if only one may write at a time
	hadr   bool
	log    *slog.Logger
	write  *side
	read   *side
}

// Open opens both handles and tries each for at most five seconds. In HADR mode the writer may be
// down, but not the reader. Open does not check the tables: call Migrate next, and Run to watch
// the handles. It does not retain the settings.
func Open(ctx context.Context, s Settings, log *slog.Logger) (*Store, error) {
	s, err := s.resolve()
	if err != nil {
		return nil, fmt.Errorf("database settings: %w", err)
	}
	pack, err := newPackers()
	if err != nil {
		return nil, fmt.Errorf("prepare compression: %w", err)
	}
	e := engineOf(s.Engine)
	w, r, err := e.open(s)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	read := &side{name: "reader", db: r, idle: s.PoolSize, query: "SELECT '0'"}
	db := &database{
		packers: pack,
		reads:   reads{db: bun.NewDB(r, e.dialect()), engine: e, side: read, past: newPast()},
		writer:  bun.NewDB(w, e.dialect()),
		line:    semaphore.NewWeighted(1),
		hadr:    s.HADR,
		log:     log,
		write:   &side{name: "writer", db: w, idle: s.PoolSize, query: e.writable},
		read:    read,
	}
	if err := db.try(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return newStore(db), nil
}

func newStore(db *database) *Store {
	leases, meters := leaseTable{db}, meterTable{db}
	audits := auditTable{db}
	return &Store{
		database: db, migrator: migrator{db, leases, audits}, leaseTable: leases, auditTable: audits,
		meterTable: meters, jobTable: jobTable{db, meters}, responseTable: responseTable{db}, batchTable: batchTable{db},
	}
}

// try checks both handles once and fails if a required one is down.
func (s *database) try(ctx context.Context) error {
	if err := s.probe(ctx, s.read); err != nil {
		return fmt.Errorf("database reader: %w", err)
	}
	err := s.probe(ctx, s.write)
	if err == nil {
		return nil
	}
	if !s.hadr {
		return fmt.Errorf("database writer: %w", err)
	}
	s.recordCheck(ctx, s.write, err)
	return nil
}

// Close closes both handles. Calls in progress fail.
func (s *database) Close() error {
	if s.read.db == s.write.db {
		return s.write.db.Close()
	}
	return errors.Join(s.read.db.Close(), s.write.db.Close())
}
