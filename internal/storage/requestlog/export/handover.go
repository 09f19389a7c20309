package export

import (
	"context"
	"errors"
	"slices"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/lease"
)

// leaseLife is how long a node that does not respond retains the exports that it runs.
const leaseLife = 30 * time.Second

func leaseOf(id string) string { return "log-export/" + id }

// holdLease acquires the lease of an export and holds it until release is called; ok is false if
// another node has it. The context ends when the lease is lost: then the run belongs to another
// node, and nothing may be written any more.
func (r *Runner) holdLease(ctx context.Context, id string) (held context.Context, release func(), ok bool, err error) {
	if r.Leases == nil {
		return ctx, func() {}, true, nil
	}
	if ok, err = r.Leases.TakeLease(ctx, leaseOf(id), r.Node, leaseLife); err != nil || !ok {
		return ctx, nil, false, err
	}
	held, stop := lease.Hold(ctx, r.Leases, leaseOf(id), r.Node, leaseLife)
	return held, func() {
		stop()
		if err := r.Leases.ReleaseLease(context.WithoutCancel(ctx), leaseOf(id), r.Node); err != nil {
			r.Log.Warn("cannot release export lease; it will expire", "export", id, "error", err.Error())
		}
	}, true, nil
}

// takeOver takes over one export of a node that does not respond, if there is one, and runs it
// from the beginning, because that node's file is on its own disk.
func (r *Runner) takeOver(ctx context.Context) (found bool, err error) {
	if r.Leases == nil {
		return false, nil
	}
	orders, err := r.Store.List(ctx, resource.Query{
		Kind: record.ExportKind, Statuses: []string{resource.Active}, Index: []resource.IndexEntry{{Name: record.ExportRunningIndex, Value: record.ExportRunningValue}}, Limit: 1000,
	})
	if err != nil {
		return false, err
	}
	for _, rec := range orders {
		order, err := resource.Decode[record.Export](rec)
		if err != nil {
			return false, err
		}
		if run := order.Value.Run; run.Node == r.Node || r.Clock.Now().Sub(run.Started) < leaseLife {
			continue
		}
		ok, err := r.Leases.TakeLease(ctx, leaseOf(rec.ID), r.Node, leaseLife)
		if err != nil {
			return false, err
		}
		if ok {
			return true, r.take(ctx, rec.ID, order.Value.Run)
		}
	}
	return false, nil
}

// take assigns the run of another node to this node. The new id ends the old run, in case its
// node is still alive.
func (r *Runner) take(ctx context.Context, id string, was record.ExportRun) error {
	err := r.change(ctx, id, was.ID, func(rec *resource.Record, e *record.Export) {
		e.Run.ID, e.Run.Node, e.Run.Mark = ident.NewID(), r.Node, record.ExportMark{}
		rec.Index = append(withoutIndexEntry(rec.Index, record.ExportNodeIndex), resource.IndexEntry{Name: record.ExportNodeIndex, Value: r.Node})
	})
	if errors.Is(err, errStopped) {
		return nil
	}
	if err == nil {
		r.Log.Info("taking over log export of an unresponsive node", "export", id, "node", was.Node)
	}
	return err
}

func withoutIndexEntry(index []resource.IndexEntry, name string) []resource.IndexEntry {
	return slices.DeleteFunc(index, func(e resource.IndexEntry) bool { return e.Name == name })
}
