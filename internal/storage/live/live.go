// Package live maintains the copy of the control plane that the data plane reads. It is an
// immutable snapshot in an atomic pointer, replaced when the store's change feed has changes.
// No request ever waits for the store. Start reading at Directory.
package live

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/routing"
	"sluice/internal/kernel/sealed"
	"sluice/internal/limits/quota"
)

// source is the store that the copy is read from; *sqlstore.Store implements it.
type source interface {
	List(ctx context.Context, q resource.Query) ([]resource.Record, error)
	Each(ctx context.Context, q resource.Query, f func(resource.Record)) error // f may retain everything except the body
	Changes(ctx context.Context, after int64, limit int) ([]resource.Change, error)
	LastChange(ctx context.Context) (int64, error)
}

// Interval is the time between two polls of the feed without a call of Wake. A change made on
// another node takes effect within a second.
const Interval = 250 * time.Millisecond

const (
	pageSize     = 500
	changesBatch = 1000
)

// Directory follows the store. Current is safe for concurrent use at any time after Load.
type Directory struct {
	src    source
	box    *sealed.Sealer
	limits routing.Limits
	log    *slog.Logger
	now    atomic.Pointer[Snapshot]
	wake   chan struct{}

	counted LimitOptions // set before Load

	turn    chan struct{}   // semaphore of the goroutine that loads or polls; guards last, preload, parts, scopes and texts
	last    resource.Change // last change read from the feed; after Load only its number
	preload *catalogPreload // nil: new kinds of providers are published at once
	parts   parts
	scopes  scopeSets
	texts   texts

	mu   sync.Mutex // guards next
	next *poll      // not begun yet; nil if no caller waits for one
}

// New returns a Directory; Load fills it.
func New(src source, box *sealed.Sealer, limits routing.Limits, log *slog.Logger) *Directory {
	d := &Directory{src: src, box: box, limits: limits, log: log, wake: make(chan struct{}, 1), turn: make(chan struct{}, 1), scopes: newScopeSets(), texts: make(texts)}
	d.now.Store(&Snapshot{})
	return d
}

// Current returns the newest snapshot; never nil.
func (d *Directory) Current() *Snapshot { return d.now.Load() }

// Load reads everything once. It reads the position in the feed first, so that a change made
// meanwhile is read again and never missed.
func (d *Directory) Load(ctx context.Context) (err error) {
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	seq, err := d.src.LastChange(ctx)
	if err != nil {
		return fmt.Errorf("read change feed: %w", err)
	}
	old := d.parts
	defer func() {
		if err != nil {
			d.parts = old
		}
	}()
	d.parts = newParts()
	if err := d.loadAll(ctx); err != nil {
		return err
	}
	if err := d.loadMeters(ctx); err != nil {
		return err
	}
	d.last = resource.Change{Seq: seq}
	d.publish(ctx, d.parts.assemble())
	return nil
}

// take decodes one record. An archived record is removed for requests. A record that cannot be
// decoded is skipped and logged, so that a bad record affects only itself.
func (d *Directory) take(r resource.Record) {
	d.parts.drop(r.Kind, r.ID)
	d.parts.drop(limitsOf(r.Kind), r.ID)
	policy := r.Kind == quota.UsageLimitKind || r.Kind == quota.RateLimitKind
	if r.Status == resource.Archived || policy && d.counted.NoPolicies {
		return
	}
	v, err := decoders[r.Kind](d, r)
	var plans []namedPlan
	if err == nil {
		plans, err = d.plansOf(r, v)
	}
	if err != nil {
		d.log.Error("skipping invalid stored record", "kind", r.Kind, "id", r.ID, "error", err.Error())
		return
	}
	d.parts.put(r.Kind, r.ID, v)
	if plans != nil {
		d.parts.put(limitsOf(r.Kind), r.ID, plans)
	}
}

// Wake requests a poll of the feed now. The administration calls it after a write.
func (d *Directory) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Run follows the feed until ctx ends. While the store cannot be read the last snapshot
// remains current.
func (d *Directory) Run(ctx context.Context) error {
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-d.wake:
		}
		err := d.Refresh(ctx)
		if err == nil && failing {
			err = d.resync(ctx)
		}
		if err != nil && !failing && ctx.Err() == nil {
			d.log.Warn("cannot read the change feed; serving the last snapshot", "error", err.Error())
		}
		if err == nil && failing {
			d.log.Info("change feed restored")
		}
		failing = err != nil
	}
}
