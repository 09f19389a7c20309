package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"sluice/internal/background"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/lease"
	"sluice/internal/record"
	"sluice/internal/resource"
)

// Store is the control plane, which has the orders: *store.Store.
type Store interface {
	Find(ctx context.Context, kind, id string) (resource.Record, error)
	List(ctx context.Context, q resource.Query) ([]resource.Record, error)
	InTx(ctx context.Context, f func(resource.Tx) error) error
}

// Logs is the request log: *logstore.Store.
type Logs interface {
	List(ctx context.Context, q record.Query) (record.Page, error)
	// Find returns one attempt with its bodies; fault.NotFound when there is none.
	Find(ctx context.Context, orgID, workspaceID, id string) (record.Attempt, error)
}

// Parts are what a Runner works with. All are needed unless it says otherwise.
type Parts struct {
	Store Store
	Logs  Logs
	Files *Files
	// Columns are those of fields of record.ExportFields, in order.
	Columns   func(fields []string) []record.ExportColumn
	Node      string        // whose exports are run: the name of the journal of this node
	Retention time.Duration // how long a file is kept after its end
	Clock     ident.Clock
	Log       *slog.Logger
	// ObjectStore is where files go when they are done, so that every node serves them; nil keeps
	// them with this node.
	ObjectStore *ObjectStore
	// Leases let a node take over what a silent one runs. They need a Shelf, and a log whose
	// rows are the same for all nodes; nil leaves each export with its node.
	Leases lease.Store
	// PartBytes is how much is in memory of a file before it is written and the run marked;
	// 0 means 8 MiB.
	PartBytes int
}

const (
	// pollInterval is how often orders are looked for that nobody told of: those left by the
	// last process, or while the control plane could not be reached.
	pollInterval = 30 * time.Second
	// sweepInterval is how often files are looked at that may have had their time.
	sweepInterval = 10 * time.Minute
)

// Runner runs the exports of one node, one after the other, and deletes files that have had
// their time. Run belongs to one goroutine; Wake and Stats may be called by any.
type Runner struct {
	Parts
	stats
	wake  chan struct{}
	swept time.Time
}

// New makes a runner; nothing moves until Run.
func New(p Parts) *Runner {
	p.PartBytes = cmp.Or(p.PartBytes, usualPart)
	return &Runner{Parts: p, wake: make(chan struct{}, 1)}
}

// Wake says that there may be something to do. It does not wait.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run works until ctx ends. What is under way then goes on at the next start.
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

// RunPending runs what there is to run, the oldest order first, and deletes files whose time has
// come. Its error is that of the control plane: what it left undone is done at the next turn.
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
	return r.sweep(ctx) // what was started meanwhile has woken Run
}

// export runs one order to its end. An error is one of the control plane.
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
		return r.Files.Remove(rec.ID) // its new node begins anew
	}
	return err
}

// runUnderLease runs an order while its lease is held.
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

// stats count what a runner did since the start.
type stats struct{ rows, failed, done atomic.Int64 }

// Stats are what was done since the start of the program.
type Stats struct{ Rows, Done, Failed int64 }

// Stats may be called while the runner works.
func (r *Runner) Stats() Stats {
	return Stats{Rows: r.rows.Load(), Done: r.done.Load(), Failed: r.failed.Load()}
}
