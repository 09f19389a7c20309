package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/background"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/lease"
)

// Store is the control plane, which stores the orders; *sqlstore.Store implements it.
type Store interface {
	Find(ctx context.Context, kind, id string) (resource.Record, error)
	List(ctx context.Context, q resource.Query) ([]resource.Record, error)
	InTx(ctx context.Context, f func(resource.Tx) error) error
}

// Logs is the request log; *requestlog.Store implements it.
type Logs interface {
	List(ctx context.Context, q record.Query) (record.Page, error)
	// Find returns one attempt with its bodies; fault.NotFound if there is none.
	Find(ctx context.Context, orgID, workspaceID, id string) (record.Attempt, error)
}

// Parts are the dependencies of a Runner. All are required unless stated otherwise.
type Parts struct {
	Store Store
	Logs  Logs
	Files *Files
	// Columns returns the columns for fields of record.ExportFields, in order.
	Columns   func(fields []string) []record.ExportColumn
	Node      string        // runs the exports of this node: the name of its journal
	Retention time.Duration // how long a file is retained after its export ends
	Clock     ident.Clock
	Log       *slog.Logger
	// ObjectStore stores finished files, so that every node serves them; with nil they remain on
	// this node.
	ObjectStore *ObjectStore
	// Leases let a node take over the runs of one that does not respond. They need an
	// ObjectStore, and a log whose rows all nodes share; with nil each export remains with its
	// node.
	Leases lease.Store
	// PartBytes is how much of a file is in memory before it is written and the run marked; 0
	// means 8 MiB.
	PartBytes int
}

const (
	// pollInterval is the time between two polls for orders without a Wake: those left by the
	// last process, or made while the control plane was unreachable.
	pollInterval = 30 * time.Second
	// sweepInterval is the time between two checks for expired files.
	sweepInterval = 10 * time.Minute
)

// Runner runs the exports of one node, one after the other, and deletes expired files. Run
// belongs to one goroutine; any goroutine may call Wake and Stats.
type Runner struct {
	Parts
	stats
	wake  chan struct{}
	swept time.Time
}

// New creates a runner; it does nothing until Run.
func New(p Parts) *Runner {
	p.PartBytes = cmp.Or(p.PartBytes, usualPart)
	return &Runner{Parts: p, wake: make(chan struct{}, 1)}
}

// Wake signals that there may be work. It does not wait.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run works until ctx ends. An export in progress continues at the next start.
func (r *Runner) Run(ctx context.Context) error {
	outage := background.NewOutageLog(r.Log, "log exports failed; retrying", "log exports restored")
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		switch err := r.RunPending(ctx); {
		case err == nil:
			outage.Recovered()
		case ctx.Err() == nil && !fault.Has(err, fault.ReadOnly):
			outage.Failed(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-r.wake:
		}
	}
}

// RunPending runs all pending orders, the oldest first, and deletes expired files. It returns
// errors of the control plane; the next turn repeats what failed.
func (r *Runner) RunPending(ctx context.Context) error {
	orders, err := r.Store.List(ctx, resource.Query{
		Kind: record.ExportKind, Statuses: []string{resource.Active}, Index: []resource.IndexEntry{{Name: record.ExportNodeIndex, Value: r.Node}}, Limit: 1000,
	})
	if err != nil {
		return fmt.Errorf("find log exports: %w", err)
	}
	for _, rec := range orders {
		if err := r.export(ctx, rec); err != nil {
			return fmt.Errorf("run log export %s: %w", rec.ID, err)
		}
	}
	adopted, err := r.takeOver(ctx)
	if err != nil {
		return fmt.Errorf("find log exports of other nodes: %w", err)
	}
	if adopted {
		r.Wake()
	}
	return r.sweep(ctx) // orders that started meanwhile have woken Run
}

// export runs one order to its end. It returns errors of the control plane.
func (r *Runner) export(ctx context.Context, rec resource.Record) error {
	order, err := resource.Decode[record.Export](rec)
	if err != nil {
		return err
	}
	held, release, ok, err := r.holdLease(ctx, rec.ID)
	if err != nil || !ok {
		return err
	}
	defer release()
	err = r.runUnderLease(held, rec, order.Value)
	if errors.Is(context.Cause(held), lease.ErrNotHolder) {
		return r.Files.Remove(rec.ID) // its new node starts from the beginning
	}
	return err
}

// runUnderLease runs an order while it holds its lease.
func (r *Runner) runUnderLease(ctx context.Context, rec resource.Record, order record.Export) error {
	runID := order.Run.ID
	size, err := (&run{Runner: r, id: rec.ID, orgID: rec.OrgID, workspaceID: rec.WorkspaceID, order: order}).work(ctx)
	var failed *cause
	switch {
	case err == nil:
		err = r.finishRun(ctx, rec.ID, runID, func(e *record.Export) {
			e.State, e.Run.Mark.Bytes, e.Run.Shared = record.ExportDone, size, r.ObjectStore != nil
		})
		if err == nil {
			r.done.Add(1)
			if r.ObjectStore != nil {
				return r.Files.Remove(rec.ID)
			}
		}
	case errors.As(err, &failed):
		r.Log.Warn("log export failed", "export", rec.ID, "error", err.Error())
		r.failed.Add(1)
		err = r.finishRun(ctx, rec.ID, runID, func(e *record.Export) { e.State, e.Run.Error = record.ExportFailed, failed.message })
		err = errors.Join(err, r.Files.Remove(rec.ID))
	}
	if errors.Is(err, errStopped) {
		err = r.Files.Remove(rec.ID)
		if r.ObjectStore != nil {
			err = errors.Join(err, r.ObjectStore.remove(ctx, rec.ID, runID))
		}
	}
	return err
}

// stats count the work of a runner since the start.
type stats struct{ rows, failed, done atomic.Int64 }

// Stats are counters since the start of the program.
type Stats struct{ Rows, Done, Failed int64 }

// Stats returns the counters. It may be called while the runner works.
func (r *Runner) Stats() Stats {
	return Stats{Rows: r.rows.Load(), Done: r.done.Load(), Failed: r.failed.Load()}
}
