package live

import (
	"context"
	"fmt"

	"sluice/internal/resource"
)

// resync goes on with a store that was away. One that comes back without its last changes,
// as a replica that took over or a backup does, gives their numbers to others, which would
// be passed over here: then everything is read anew.
func (d *Directory) resync(ctx context.Context) error {
	last, err := d.position(ctx)
	if err != nil {
		return err
	}
	same, err := d.has(ctx, last)
	if err != nil || same {
		return err
	}
	if err := d.Load(ctx); err != nil {
		return err
	}
	d.log.Warn("database lost recent changes (failover or restore); reloaded the snapshot", "change", last.Seq)
	return nil
}

// position is the last change that was read.
func (d *Directory) position(ctx context.Context) (resource.Change, error) {
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
		return d.last, nil
	case <-ctx.Done():
		return resource.Change{}, ctx.Err()
	}
}

// has reports whether the feed has a change still, as far as that is known.
func (d *Directory) has(ctx context.Context, last resource.Change) (bool, error) {
	if last.Seq == 0 {
		return true, nil
	}
	found, err := d.src.Changes(ctx, last.Seq-1, 1)
	if err != nil {
		return false, fmt.Errorf("read change feed: %w", err)
	}
	return len(found) == 1 && found[0].Seq == last.Seq && (last.Kind == "" || found[0] == last), nil
}
