// Package clickhouse keeps the rows of the request log in a ClickHouse server, for
// deployments that outgrew one node: every node writes there, and each answers over the
// rows of all.
//
// # Exactly once
//
// ClickHouse has no transaction over several tables, so what a Write does can end between
// any two of its steps, and a step whose answer was lost may take effect late. It is still
// as if it had happened once or not at all, because every step may be done again:
//
//  1. The node notes that a batch is on its way, and the end of the bodies behind it. What
//     is read of the journal from now on may be stored twice, but bodies of a batch that
//     failed are never overwritten: each copy of a row refers to bodies of its own.
//  2. Rows are inserted. The key of the table (org_id, workspace_id, started, id) says
//     which attempt a row is of, so the same attempt inserted again is the same row.
//  3. Corrections are inserted, under a key of their own, and the rows that they are about
//     once more with the newest correction of each. The version of a row is the moment of
//     that correction: a row that is inserted again without it, version 0, does not win.
//  4. The position in the journal is noted, and that the batch has ended.
//
// A node that is cut off before the last step finds its old position and does the batch
// again; one that is cut off behind it goes on. Positions are numbered, so that a late one
// does not win. Each node has a position of its own, named by its journal.
//
// # Order of arrival
//
// Rows carry the time at which the server took them, by its clock. While a batch is on its
// way (step 1 to 4), rows that arrived since it began are on no page in order of arrival:
// so whoever follows that order misses none of any node. A node that died meanwhile holds
// that up for a minute; rows that it then inserts again arrive again. So that no node that
// lives is taken for dead, all steps together are given up before the minute is over, by the
// server too; the batch is then done again, and its rows arrive anew.
package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/fault"
	"sluice/internal/logstore"
	"sluice/internal/logstore/clickhouse/client"
)

// Options say where the tables are and who writes. Server and Node must be given.
type Options struct {
	Server        client.Server
	Node          string // name of the journal that is written from
	RetentionDays int    // after which the server itself deletes rows, a day later; 0 means never

	// ExactRows is of how many rows percentiles are exact; 0 means 20 million. Of more they
	// are within half a percent, so that they need not all be in the server's memory.
	ExactRows int64

	// Exclusive runs work when no other instance does: what tables need is made by one of
	// them while the others wait. nil means that there is no other.
	Exclusive func(ctx context.Context, work func(context.Context) error) error
	Logger    *slog.Logger // nil means none
}

// maxReaders bounds the questions of a node that run at once.
const maxReaders = 8

// DB is the request log on a server. Its methods are safe for concurrent use.
type DB struct {
	o       Options
	c       *client.Client
	readers chan struct{} // one for each question that runs

	ready    atomic.Bool // the tables are as this program knows them
	starting sync.Mutex  // one prepare at a time

	batchLimit time.Duration // of a Write

	feeds atomic.Uint64 // of feedback, as FeedbackProgress found them

	deleting sync.Mutex // guards others
	others   deferredDeletes

	writing sync.Mutex // one Write at a time; guards what follows
	known   bool       // last is what the server has
	last    position
	version uint64 // of the position that was noted last, or was tried to
	buffers
}

var _ logstore.RowStore = (*DB)(nil)

// Open brings the tables up to date. When the server cannot be reached it is no error:
// that is done by whatever uses the DB first once it can be. It is one when the server
// refuses.
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
	return d, nil
}

// prepared is a DB that has asked the server nothing yet.
func prepared(o Options) (*DB, error) {
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
	return &DB{o: o, c: c, readers: make(chan struct{}, maxReaders), batchLimit: batchLimit, others: deferredDeletes{wait: otherWait}}, nil
}

// Close gives up idle connections.
func (d *DB) Close() error { d.c.Close(); return nil }

// prepare brings the tables up to date, once.
func (d *DB) prepare(ctx context.Context) error {
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

// reading are the settings of a question: parts of different days have no row in common,
// and the columns with an index never change. Compiled expressions get the larger of two
// numbers of 128 bits wrong (seen in 26.7, after the third time that one was asked for).
var reading = map[string]string{"do_not_merge_across_partitions_select_final": "1", "use_skip_indexes_if_final": "1", "compile_expressions": "0"}

// ask runs a question. What fails for want of a server, time or memory is told to who
// asked.
func (d *DB) ask(ctx context.Context, sql string, p *client.Params, row func(scan func(...any) error) error) error {
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
