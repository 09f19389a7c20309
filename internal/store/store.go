package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/uptrace/bun"
	"golang.org/x/sync/semaphore"

	"sluice/internal/resource"
)

var _ resource.Store = (*Store)(nil)

// Store is an open database. It is safe for concurrent use and lives until Close.
// Its reads (Find, FindSlug, List, Count, Versions, Links, Changes, LastChange)
// see committed records only and go to the reader.
type Store struct {
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
	st := &Store{
		packers: pack,
		reads:   reads{db: bun.NewDB(r, e.dialect()), engine: e, side: read, past: newPast()},
		writer:  bun.NewDB(w, e.dialect()),
		line:    semaphore.NewWeighted(1),
		hadr:    s.HADR,
		log:     log,
		write:   &side{name: "writer", db: w, idle: s.PoolSize, query: e.writable},
		read:    read,
	}
	if err := st.try(ctx); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st, nil
}

// try checks both handles once and fails if a required one is down.
func (s *Store) try(ctx context.Context) error {
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
func (s *Store) Close() error {
	if s.read.db == s.write.db {
		return s.write.db.Close()
	}
	return errors.Join(s.read.db.Close(), s.write.db.Close())
}
