package clickhouse

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/limits/ledger"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/clickhouse/client"
	"sluice/internal/storage/requestlog/extra"
)

// rowWriter inserts rows and the position in the journal up to which they are stored.
type rowWriter struct {
	*server
	batchLimit time.Duration // of a Write

	writing sync.Mutex // one Write at a time; guards the following fields
	known   bool       // last is what the server has stored
	last    position
	version uint64 // version of the position that was stored last, or tried to be
	buffers
}

// Write implements requestlog.RowStore. The package comment describes its steps.
func (d *rowWriter) Write(ctx context.Context, fill func(requestlog.Sink) (requestlog.Progress, error)) error {
	d.writing.Lock()
	defer d.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if !d.known {
		if err := d.load(ctx); err != nil {
			return err
		}
	}
	w := &writer{db: d}
	d.batch.Reset()
	p, err := fill(w)
	if err != nil {
		return err
	}
	if err := d.store(ctx, w, p); err != nil {
		d.known = false
		return err
	}
	return nil
}

// batchLimit is the maximum time of all steps of a Write together. Readers in the order of
// arrival skip a batch that has been open for a minute (committedSQL). So what is not stored by
// then is cancelled before, and inserted again with a new time of arrival.
const batchLimit = 45 * time.Second

// store performs the steps of a Write.
func (d *rowWriter) store(ctx context.Context, w *writer, p requestlog.Progress) error {
	ctx, stop := context.WithTimeout(ctx, d.batchLimit)
	defer stop()
	end := position{next: p.Next.Seq, bodies: p.BodyStore}
	if d.batch.Len() > 0 || len(w.trail)+len(w.lateHooks) > 0 {
		if err := d.note(ctx, position{next: d.last.next, bodies: p.BodyStore, open: true}); err != nil {
			return err
		}
	}
	if d.batch.Len() > 0 {
		if err := d.c.Insert(ctx, "attempts", written(), d.batch.Bytes()); err != nil {
			return fmt.Errorf("write log rows: %w", err)
		}
	}
	if err := d.correct(ctx, w.trail); err != nil {
		return err
	}
	if err := d.writeLateHooks(ctx, w.lateHooks); err != nil {
		return err
	}
	return d.note(ctx, end)
}

// buffers are reused by each Write.
type buffers struct {
	batch client.Rows
	line  ledger.Entry // the closing entry of the attempt
}

// writer collects what a Write stores.
type writer struct {
	db        *rowWriter
	trail     []record.Correction
	lateHooks []record.LateHooks
}

var _ requestlog.Sink = (*writer)(nil)

// Add implements requestlog.Sink.
func (w *writer) Add(a *record.Attempt, ref bodies.Ref) (err error) {
	d := w.db
	s := stored{Billed: record.Billed{Attempt: *a, Charged: requestlog.ChargedOf(a.Closing, &d.line)}, ref: ref, node: d.o.Node}
	var x extra.Fields
	x.Take(a)
	if s.extra, err = x.Text(); err != nil {
		return err
	}
	put(&d.batch, &s)
	return nil
}
