// Package duckdb stores the rows of the request log in an embedded DuckDB file. It is the only
// package that links DuckDB. Start reading at DB and Open.
package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"sluice/internal/kernel/ident"
	"sluice/internal/storage/requestlog"
)

// Options configure where the database is and which resources it may use. Only Path is required.
type Options struct {
	Path     string       // of the file; its directory is created with mode 0700 if missing
	MemoryMB int          // approximate memory of the log in the process; 0 means 512
	Threads  int          // 0 means 1: a second one made storing records a fifth more expensive
	Clock    ident.Clock  // nil means that of the machine
	Logger   *slog.Logger // nil means none

	// ExactBelow is the number of rows below which queries read only rows, and percentiles are
	// exact. 0 means 50,000; a negative number disables it.
	ExactBelow int
	// ReserveMB is the disk space that must remain free: with less nothing is written. 0 means
	// 256, a negative number means no reserve.
	ReserveMB int
}

func (o Options) withDefaults() Options {
	if o.MemoryMB == 0 {
		o.MemoryMB = 512
	}
	if o.Threads == 0 {
		o.Threads = 1
	}
	if o.ReserveMB == 0 {
		o.ReserveMB = usualReserve
	}
	if o.Clock == nil {
		o.Clock = ident.System{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.ExactBelow == 0 {
		o.ExactBelow = 50_000
	}
	return o
}

// maxReaders is the maximum number of queries that run at once.
const maxReaders = 4

// tracked is the part of Options.MemoryMB, in percent, that DuckDB may use for memory that it
// accounts for. The rest is a reserve for what it does not count: data about its files, states of
// aggregates, freed memory that is not returned yet, and the memory of Go and of the program's
// pages. With 10,000,000 rows that is 130 MB while rollups are computed, and with 100,000,000
// rows more than 200 MB.
const tracked = 40

// minTrackedMB is DuckDB's minimum memory in MB. A checkpoint pins blocks of all columns at once,
// and makes the complete database unusable if it cannot. That happened with 57 MB.
const minTrackedMB = 80

type setting struct{ name, value string }

// settings returns the settings of the database. Extensions are neither loaded nor fetched, and
// SQL cannot access other files.
func (o Options) settings() []setting {
	return []setting{
		{"memory_limit", strconv.Itoa(max(o.MemoryMB*tracked/100, minTrackedMB)) + "MB"},
		{"allocator_flush_threshold", "16MB"},    // of freed memory that is not returned
		{"allocator_background_threads", "true"}, // to return what ended threads freed
		{"dynamic_or_filter_threshold", "1000"},  // traces that are searched in few row groups
		{"threads", strconv.Itoa(o.Threads)},
		{"checkpoint_threshold", "64MB"}, // each checkpoint writes the newest row group again
		{"autoinstall_known_extensions", "false"},
		{"autoload_known_extensions", "false"},
		{"enable_external_access", "false"},
	}
}

// dsn returns the address of the database with its settings.
func (o Options) dsn() string {
	v := url.Values{}
	for _, s := range o.settings() {
		v.Set(s.name, s.value)
	}
	return o.Path + "?" + v.Encode()
}

// DB is an open database. Its methods are safe for concurrent use. A database that a fatal error
// made unusable is reopened as soon as there is disk space. Until then methods that need it
// return fault.Overloaded.
type DB struct {
	*database
	queries
	retention
	roller
	feedbackTable
}

// database is the open file: its connections, its one writer, and how it is opened again.
type database struct {
	o    Options
	base *base   // of sql
	sql  *sql.DB // for reading, and for rare writes

	opening  sync.Mutex // held while the file is opened and closed; acquired before mu. Guards reopened
	reopened time.Time  // last attempt

	mu   sync.Mutex // guards the following fields: one writer
	link *link      // nil while the database is unavailable
	writerState

	now        func() time.Time
	log        *slog.Logger
	exactBelow int64 // number of rows in slots below which the slots are not used
}

var _ requestlog.RowStore = (*DB)(nil)

// Open opens or creates the database and updates its tables. Only one process can open a file at
// a time.
func Open(ctx context.Context, o Options) (*DB, error) {
	o = o.withDefaults()
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return nil, fmt.Errorf("open log database: %w", err)
	}
	d := &database{o: o, base: newBase(), now: o.Clock.Now, log: o.Logger, exactBelow: int64(o.ExactBelow)}
	d.sql = sql.OpenDB(d.base)
	d.sql.SetMaxOpenConns(maxReaders + 1) // and one that computes rollups
	d.sql.SetMaxIdleConns(idleReaders)
	if err := d.open(ctx); err != nil {
		return nil, errors.Join(err, d.sql.Close())
	}
	feedback := feedbackTable{d}
	return &DB{d, queries{d}, retention{d}, roller{d, feedback}, feedback}, nil
}

// Close ends all use of the database and writes what is not yet in its file. Queries in progress
// return an error.
func (d *database) Close() error {
	d.opening.Lock()
	defer d.opening.Unlock()
	d.base.refuse(errClosed)
	if err := errors.Join(d.close(), d.sql.Close()); err != nil {
		return fmt.Errorf("close log database: %w", err)
	}
	return nil
}

// Progress implements requestlog.RowStore.
func (d *database) Progress(ctx context.Context) (requestlog.Progress, error) {
	if err := d.reopen(ctx); err != nil {
		return requestlog.Progress{}, fmt.Errorf("read progress of the log database: %w", err)
	}
	var p requestlog.Progress
	err := d.sql.QueryRowContext(ctx, "SELECT next_seq, body_file, body_size FROM progress").
		Scan(&p.Next.Seq, &p.BodyStore.File, &p.BodyStore.Size)
	if err != nil {
		return requestlog.Progress{}, fmt.Errorf("read progress of the log database: %w", err)
	}
	return p, nil
}
