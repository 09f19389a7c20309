// Package duckdb keeps the rows of the request log in an embedded DuckDB file. It
// is the only package that links DuckDB.
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

	"sluice/internal/ident"
	"sluice/internal/logstore"
)

// Options say where the database is and what it may use. Only Path must be given.
type Options struct {
	Path     string       // of the file; its directory is made with mode 0700 when absent
	MemoryMB int          // about what the log takes of the memory of the process; 0 means 512
	Threads  int          // 0 means 1: a second one made taking records over a fifth dearer
	Clock    ident.Clock  // nil means that of the machine
	Logger   *slog.Logger // nil means none

	// ExactBelow is the number of rows for which questions are answered by the rows alone,
	// and percentiles exactly. 0 means 50,000, a negative number none.
	ExactBelow int
	// ReserveMB is how much is kept free on the disk: with less nothing is written. 0 means
	// 256, and less than 0 nothing.
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

// maxReaders bounds the queries that run at once.
const maxReaders = 4

// tracked is the part of Options.MemoryMB, in percent, that DuckDB may use of what it keeps an
// account of. The rest is the reserve for what it does not: what it knows of its files, states of
// aggregates, memory that it freed and has not given back yet, and what Go and the pages of the program
// itself take in the process. With 10,000,000 rows that comes to 130 MB while sums are worked out,
// and with 100,000,000 to more than 200.
const tracked = 40

// minTrackedMB is how many MB DuckDB has at least. A checkpoint pins blocks of all columns at
// once, and makes the whole database useless when it cannot: with 57 MB that happened.
const minTrackedMB = 80

type setting struct{ name, value string }

// settings of the database. Extensions are neither loaded nor fetched, and SQL
// reaches no other file.
func (o Options) settings() []setting {
	return []setting{
		{"memory_limit", strconv.Itoa(max(o.MemoryMB*tracked/100, minTrackedMB)) + "MB"},
		{"allocator_flush_threshold", "16MB"},    // of what was freed and not given back
		{"allocator_background_threads", "true"}, // to give back what threads that are gone freed
		{"dynamic_or_filter_threshold", "1000"},  // traces that few row groups are looked through for
		{"threads", strconv.Itoa(o.Threads)},
		{"checkpoint_threshold", "64MB"}, // each checkpoint writes the newest row group again
		{"autoinstall_known_extensions", "false"},
		{"autoload_known_extensions", "false"},
		{"enable_external_access", "false"},
	}
}

// dsn is the address of the database with its settings.
func (o Options) dsn() string {
	v := url.Values{}
	for _, s := range o.settings() {
		v.Set(s.name, s.value)
	}
	return o.Path + "?" + v.Encode()
}

// DB is an open database. Its methods are safe for concurrent use. A database that a fatal
// error made useless is opened again as soon as there is room; until then what needs it fails
// with fault.Overloaded.
type DB struct {
	o    Options
	base *base   // of sql
	sql  *sql.DB // for reading, and for writes that are rare

	opening  sync.Mutex // held while the file is opened and closed; taken before mu. Guards reopened
	reopened time.Time  // when that was last tried

	mu   sync.Mutex // guards what follows: one writer
	link *link      // nil while the database is away
	writerState

	now        func() time.Time
	log        *slog.Logger
	exactBelow int64 // rows in slots for which those are not used
}

var _ logstore.RowStore = (*DB)(nil)

// Open opens or makes the database and brings its tables up to date. A file can be
// open in one process at a time.
func Open(ctx context.Context, o Options) (*DB, error) {
	o = o.withDefaults()
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return nil, fmt.Errorf("open log database: %w", err)
	}
	d := &DB{o: o, base: newBase(), now: o.Clock.Now, log: o.Logger, exactBelow: int64(o.ExactBelow)}
	d.sql = sql.OpenDB(d.base)
	d.sql.SetMaxOpenConns(maxReaders + 1) // and one that works out sums
	d.sql.SetMaxIdleConns(idleReaders)
	if err := d.open(ctx); err != nil {
		return nil, errors.Join(err, d.sql.Close())
	}
	return d, nil
}

// Close ends all use of the database and writes what is not yet in its file. Questions under
// way end with an error.
func (d *DB) Close() error {
	d.opening.Lock()
	defer d.opening.Unlock()
	d.base.refuse(errClosed)
	if err := errors.Join(d.close(), d.sql.Close()); err != nil {
		return fmt.Errorf("close log database: %w", err)
	}
	return nil
}

// Progress implements logstore.Rows.
func (d *DB) Progress(ctx context.Context) (logstore.Progress, error) {
	if err := d.reopen(ctx); err != nil {
		return logstore.Progress{}, fmt.Errorf("read progress of the log database: %w", err)
	}
	var p logstore.Progress
	err := d.sql.QueryRowContext(ctx, "SELECT next_seq, body_file, body_size FROM progress").
		Scan(&p.Next.Seq, &p.BodyStore.File, &p.BodyStore.Size)
	if err != nil {
		return logstore.Progress{}, fmt.Errorf("read progress of the log database: %w", err)
	}
	return p, nil
}
