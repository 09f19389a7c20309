// Package clickhouse stores the rows of the request log in a ClickHouse server, for
// deployments that have outgrown one node: every node writes there, and each reads the rows
// of all. Start reading at DB and its Write.
//
// # Exactly once
//
// ClickHouse has no transaction over several tables. So a Write can end between any two of
// its steps, and a step whose response was lost may take effect late. The result is still
// that of a Write that happened once or not at all, because every step can be repeated:
//
//  1. The node stores that a batch is in progress, and the end of the bodies after it. What
//     it reads from the journal from now on may be stored twice, but bodies of a failed
//     batch are never overwritten: each copy of a row refers to separate bodies.
//  2. Rows are inserted. The key of the table (org_id, workspace_id, started, id)
//     identifies the attempt, so the same attempt inserted again is the same row.
//  3. Corrections are inserted under a separate key, and their rows are inserted again with
//     the newest correction of each. The version of a row is the time of that correction:
//     a row that is inserted again without it has version 0 and does not win. Late results of
//     guardrails have a separate key, too, and are joined to their row on reading.
//  4. The position in the journal is stored, and that the batch has ended.
//
// A node that is interrupted before the last step finds its old position and repeats the
// batch; one that is interrupted after it continues. Positions are numbered, so that a late
// one does not win. Each node has a separate position, named by its journal.
//
// # Order of arrival
//
// Rows contain the time at which the server received them, by its clock. While a batch is in
// progress (step 1 to 4), rows that arrived since it began are on no page in order of
// arrival: so a reader that follows that order misses no row of any node. A node that dies
// meanwhile delays that by a minute; rows that it then inserts again arrive again. All steps
// together are cancelled before the minute is over, by the server too, so that no live node
// is taken for dead. The batch is then repeated, and its rows get a new time of arrival.
package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/clickhouse/client"
)

// Options configure where the tables are and which node writes. Server and Node are required.
type Options struct {
	Server        client.Server
	Node          string // name of the source journal
	RetentionDays int    // after which the server deletes rows automatically, a day later; 0 means never

	// ExactRows is the maximum number of rows for exact percentiles; 0 means 20 million. With
	// more rows the error is at most half a percent, so that not all rows need to fit in the
	// server's memory.
	ExactRows int64

	// Exclusive runs work while no other instance does: one instance creates the tables while the
	// others wait. nil means that there is no other instance.
	Exclusive func(ctx context.Context, work func(context.Context) error) error
	Logger    *slog.Logger // nil means none
}

// maxReaders is the maximum number of queries of a node that run at once.
const maxReaders = 8

// DB is the request log on a server. Its methods are safe for concurrent use.
type DB struct {
	*server
	queries
	*rowWriter
	*retention
	*feedbackTable
}

// server is the connection to the server and the schema of its tables.
type server struct {
	o       Options
	c       *client.Client
	readers chan struct{} // one for each running query

	ready    atomic.Bool // the tables have the schema of this program
	starting sync.Mutex  // one prepare at a time
}

var _ requestlog.RowStore = (*DB)(nil)

// Open updates the tables. An unreachable server is not an error: the first use of the DB when it
// is reachable updates them. A server that rejects the update is an error.
func Open(ctx context.Context, o Options) (*DB, error) {
	d, err := prepared(o)
	if err != nil {
		return nil, err
	}
	err = d.prepare(ctx)
	if errors.Is(err, client.ErrUnreachable) {
		d.o.Logger.Error("request log unreachable; records stay in the journal", "error", err.Error())
		err = nil
	}
	if err != nil {
		d.c.Close()
		return nil, fmt.Errorf("open log database: %w", err)
	}
	return newDB(d), nil
}

func newDB(s *server) *DB {
	rows := &rowWriter{server: s, batchLimit: batchLimit}
	return &DB{
		server: s, queries: queries{s}, rowWriter: rows, feedbackTable: &feedbackTable{server: s},
		retention: &retention{server: s, rows: rows, others: deferredDeletes{wait: otherWait}},
	}
}

// prepared returns a server that was not contacted yet.
func prepared(o Options) (*server, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.ExactRows == 0 {
		o.ExactRows = 20_000_000
	}
	if o.Exclusive == nil {
		o.Exclusive = func(ctx context.Context, work func(context.Context) error) error { return work(ctx) }
	}
	c, err := client.New(o.Server)
	if err != nil {
		return nil, err
	}
	return &server{o: o, c: c, readers: make(chan struct{}, maxReaders)}, nil
}

// Close closes idle connections.
func (d *server) Close() error { d.c.Close(); return nil }

// prepare updates the tables, once.
func (d *server) prepare(ctx context.Context) error {
	if d.ready.Load() {
		return nil
	}
	d.starting.Lock()
	defer d.starting.Unlock()
	if d.ready.Load() {
		return nil
	}
	if err := d.migrate(ctx); err != nil {
		return err
	}
	d.ready.Store(true)
	return nil
}

// reading are the settings of a query: parts of different days have no row in common, and indexed
// columns never change. Compiled expressions compute the larger of two 128-bit numbers wrongly
// (seen in 26.7, from the third request on).
var reading = map[string]string{"do_not_merge_across_partitions_select_final": "1", "use_skip_indexes_if_final": "1", "compile_expressions": "0"}

// ask runs a query. If it fails for lack of a server, time or memory, the error states that to
// the caller.
func (d *server) ask(ctx context.Context, sql string, p *client.Params, row func(scan func(...any) error) error) error {
	select {
	case d.readers <- struct{}{}:
		defer func() { <-d.readers }()
	case <-ctx.Done():
		return ctx.Err()
	}
	err := d.prepare(ctx)
	if err == nil {
		err = d.c.Query(ctx, client.Statement{SQL: sql, Params: p, Settings: reading}, row)
	}
	switch {
	case errors.Is(err, client.ErrUnreachable):
		return fault.New(fault.Overloaded, "the request log is unreachable, but no data is lost; retry shortly").WithRetry(5 * time.Second).WithCause(err)
	case client.Is(err, client.MemoryLimit, client.TimedOut):
		return fault.New(fault.Overloaded, "the request log lacks the memory or time for this query; use a shorter time range or fewer groups").WithCause(err)
	}
	return err
}
